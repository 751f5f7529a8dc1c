// Package list picks single markers of a recording, those that lasted longest or came last, with their fields, and
// draws the course of counters in some points. Memory depends on how many are asked for, and on the number of
// counters.
package list

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gprof/stream"
	"gprof/stream/filter"
)

// Orders are which markers are picked if not all are: the first one is the default.
var Orders = []string{"last", "first", "longest"}

// ErrPercentile is the error of a query that compares with a percentile: all durations would have to be known
// first.
var ErrPercentile = errors.New("a list takes no percentiles")

// Report is what was picked.
type Report struct {
	Markers  []Marker  `json:"markers"`  // at most as many as asked for, in order of time, or the longest first
	Matching int64     `json:"matching"` // all markers that match
	Counters []Counter `json:"counters"`
	Names    []string  `json:"names,omitempty"` // if nothing matches: of markers and counters, the first [MaxNames]
}

// Marker is a marker. Times are ns since the epoch, durations ns.
type Marker struct {
	At        int64   `json:"at_ns"`
	Took      int64   `json:"took_ns"` // -1: of an instant, a start or an end
	Phase     string  `json:"phase"`
	Name      string  `json:"name"`
	Process   string  `json:"process"`
	Track     string  `json:"track"`
	Goroutine int64   `json:"goroutine,omitempty"`
	Trace     string  `json:"trace_id,omitempty"`
	Fields    []Field `json:"fields,omitempty"`
}

// Field is a field that has a value, as text.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// MaxNames bounds the names of a report.
const MaxNames = 50

// Sink makes a Report.
type Sink struct {
	Report *Report // whole once Close has returned

	query    filter.Query
	order    string
	most     int
	tables   *stream.Tables
	bound    map[stream.EventID]*filter.Bound // nil: not called so
	picked   picks
	counters map[stream.CounterID]*course
	names    map[string]bool
	seen     int64
}

// New returns a Sink of the markers and counters of a query. At most so many markers are picked, by one of
// [Orders]; 0: all. Conditions are on markers alone: with any, no counter matches.
func New(q filter.Query, order string, most int) (*Sink, error) {
	if len(q.Percentiles()) > 0 {
		return nil, fmt.Errorf("%s: %w", q, ErrPercentile)
	}
	if !slices.Contains(Orders, order) {
		return nil, fmt.Errorf("unknown order %q, want one of %s", order, strings.Join(Orders, ", "))
	}
	return &Sink{Report: &Report{Markers: []Marker{}, Counters: []Counter{}}, query: q, order: order, most: most,
		bound: map[stream.EventID]*filter.Bound{}, counters: map[stream.CounterID]*course{}, names: map[string]bool{}}, nil
}

// Begin takes the tables.
func (s *Sink) Begin(t *stream.Tables) error {
	s.tables, s.picked.compare = t, byTime
	switch s.order {
	case "longest":
		s.picked.compare = byDuration
	case "first":
		s.picked.compare = func(a, b *pick) int { return byTime(b, a) }
	}
	return nil
}

// Segment picks from the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	switch b.Series.Kind {
	case stream.Markers:
		s.markers(b)
	case stream.Counts:
		s.count(b)
	}
	return nil
}

func (s *Sink) markers(b *stream.Batch) {
	event := s.tables.Event(b.Series.Event)
	q, known := s.bound[b.Series.Event]
	if !known {
		if bound, ok := s.query.Bind(event); ok {
			q = &bound
		}
		s.bound[b.Series.Event] = q
	}
	s.note(event.Name)
	if q == nil {
		return
	}
	for i := range b.Len() {
		name, ok := q.Name(b, i)
		took := int64(-1)
		if b.Phase[i] == stream.Interval {
			took = b.Duration[i]
		}
		if !ok || !q.Holds(q.Conditions(b, i)) || !s.lasts(b.Phase[i], took) {
			continue
		}
		s.Report.Matching++
		s.seen++
		p := pick{at: b.Time[i], took: took, seen: s.seen}
		if s.most > 0 && len(s.picked.all) == s.most && s.picked.compare(&p, &s.picked.all[0]) <= 0 {
			continue
		}
		p.marker = s.marker(b, i, event, name, took)
		heap.Push(&s.picked, p)
		if s.most > 0 && len(s.picked.all) > s.most {
			heap.Pop(&s.picked)
		}
	}
}

// lasts reports whether a marker fulfils the conditions on its duration. That of a start or an end is unknown:
// any must do.
func (s *Sink) lasts(p stream.Phase, took int64) bool {
	if p == stream.PhaseStart || p == stream.PhaseEnd {
		return s.query.Lasts(0, nil) && s.query.Lasts(math.MaxInt64, nil)
	}
	return s.query.Lasts(max(0, took), nil)
}

// note remembers a name, for a query that finds nothing.
func (s *Sink) note(name string) {
	if len(s.names) < MaxNames {
		s.names[name] = true
	}
}

var phases = [...]string{stream.Instant: "instant", stream.Interval: "interval", stream.PhaseStart: "start", stream.PhaseEnd: "end"}

func (s *Sink) marker(b *stream.Batch, i int, e *stream.Event, name string, took int64) Marker {
	owner := b.Owner(i)
	m := Marker{At: int64(b.Time[i]), Took: took, Phase: phases[b.Phase[i]], Name: name, Goroutine: owner.Goroutine,
		Process: s.tables.Process(b.Series.Process).Title(), Track: s.tables.Tracks.At(b.Series.Track).Name}
	span, ok := e.SpanFields().At(b, i)
	if !ok {
		span = s.tables.SpanOf(owner)
	}
	if span.Trace != [2]uint64{} {
		m.Trace = span.TraceText()
	}
	own := e.NameArg()
	for k := range e.Fields {
		if value := textOf(&b.Args[k], i, e.Fields[k].Format); value != "" && !(k == own && value == name) {
			m.Fields = append(m.Fields, Field{e.Fields[k].Name, value})
		}
	}
	return m
}

// pick is a marker that was picked. Later ones have been seen later.
type pick struct {
	at     stream.Time
	took   int64
	seen   int64
	marker Marker
}

func byTime(a, b *pick) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seen, b.seen)) }

// byDuration puts the longer one behind, of equal ones the first.
func byDuration(a, b *pick) int { return cmp.Or(cmp.Compare(a.took, b.took), byTime(b, a)) }

// picks is a heap whose first is the next to go.
type picks struct {
	all     []pick
	compare func(a, b *pick) int
}

func (p *picks) Len() int           { return len(p.all) }
func (p *picks) Less(i, k int) bool { return p.compare(&p.all[i], &p.all[k]) < 0 }
func (p *picks) Swap(i, k int)      { p.all[i], p.all[k] = p.all[k], p.all[i] }
func (p *picks) Push(x any)         { p.all = append(p.all, x.(pick)) }
func (p *picks) Pop() any {
	last := p.all[len(p.all)-1]
	p.all = p.all[:len(p.all)-1]
	return last
}

// Close makes the report.
func (s *Sink) Close() error {
	slices.SortFunc(s.picked.all, func(a, b pick) int {
		if s.order == "longest" {
			return byDuration(&b, &a)
		}
		return byTime(&a, &b)
	})
	for i := range s.picked.all {
		s.Report.Markers = append(s.Report.Markers, s.picked.all[i].marker)
	}
	s.endCounters()
	if s.Report.Matching == 0 && len(s.Report.Counters) == 0 {
		for name := range s.names {
			s.Report.Names = append(s.Report.Names, name)
		}
		slices.Sort(s.Report.Names)
	}
	return nil
}
