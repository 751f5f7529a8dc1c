// Package top is the table of what took most: of functions, or of packages,
// files, lines, categories, modules, tracks or processes; and of markers, with
// how long they took.
//
// Self is what something took by itself, total is that with all that it called;
// of a function that calls itself every sample counts once. Memory does not
// grow with the number of rows.
package top

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gprof/convert/internal/calls"
	"gprof/convert/internal/durations"
	"gprof/stream"
)

// ErrBy is the error of an unknown grouping.
var ErrBy = errors.New("unknown way to sum up")

// Marker sums up markers by their names.
const Marker = "marker"

// ways are the other groupings: by a name of each frame, or of each track.
var ways = []struct {
	name  string
	frame func(*stream.Tables, stream.Frame) string
	track func(*stream.Tables, stream.Series) string
}{
	{name: "function", frame: calls.Function},
	{name: "package", frame: calls.Package},
	{name: "file", frame: calls.File},
	{name: "line", frame: calls.Line},
	{name: "category", frame: calls.Category},
	{name: "module", frame: calls.Module},
	{name: "track", track: trackName},
	{name: "process", track: processName},
}

// Ways are the names of all groupings; the first one is the default.
func Ways() (names []string) {
	for _, w := range ways {
		names = append(names, w.name)
	}
	return append(names, Marker)
}

func trackName(t *stream.Tables, s stream.Series) string {
	return processName(t, s) + " · " + t.Tracks.At(s.Track).Name
}

func processName(t *stream.Tables, s stream.Series) string { return t.Process(s.Process).Title() }

// Table is what a recording adds up to.
type Table struct {
	By      string      `json:"by"`
	All     Amount      `json:"all"`     // of all samples
	Rows    []Row       `json:"rows"`    // those that took most come first
	Markers []MarkerRow `json:"markers"` // only by [Marker]
}

// Amount is a sum of samples, saturated.
type Amount struct {
	Samples int64 `json:"samples"` // by weight
	Timed   int64 `json:"timed"`   // of them, those whose CPU time is known
	CPU     int64 `json:"cpu_ns"`
}

// Row is what one name adds up to.
type Row struct {
	Name  string `json:"name"`
	Self  Amount `json:"self"`
	Total Amount `json:"total"`
}

// MarkerRow is the sum of the markers of one name. Durations are in ns; median and 99th percentile
// are exact to a 256th.
type MarkerRow struct {
	Name     string `json:"name"`
	Count    int64  `json:"count"`
	Timed    int64  `json:"timed"`    // of them, those that took time: intervals, and starts with their ends
	Unpaired int64  `json:"unpaired"` // starts without an end, ends without a start
	All      int64  `json:"all_ns"`   // of all of them
	P50      int64  `json:"p50_ns"`
	P99      int64  `json:"p99_ns"`
	Max      int64  `json:"max_ns"`

	// Slowest are the intervals that took longest of those that are part of a trace, at most three.
	Slowest []Exemplar `json:"slowest,omitempty"`
}

// Exemplar is an interval of a trace: what to look for where traces are kept.
type Exemplar struct {
	Took  int64  `json:"took_ns"`
	At    int64  `json:"at_ns"` // since the epoch
	Trace string `json:"trace_id"`
	Span  string `json:"span_id,omitempty"`
}

func exemplars(all durations.Slowest) (rows []Exemplar) {
	for _, x := range all {
		if x == (durations.Exemplar{}) {
			break
		}
		row := Exemplar{Took: x.Took, At: int64(x.At), Trace: x.Of.TraceText()}
		if x.Of.ID != 0 {
			row.Span = x.Of.IDText()
		}
		rows = append(rows, row)
	}
	return rows
}

// Timed says that CPU time is known of all samples, and used. Otherwise their number is.
func (t *Table) Timed() bool { return t.All.CPU > 0 && t.All.Timed == t.All.Samples }

// Sink makes a Table.
type Sink struct {
	Table *Table // whole once Close has returned

	frame   func(*stream.Tables, stream.Frame) string
	track   func(*stream.Tables, stream.Series) string
	tables  *stream.Tables
	names   *calls.Names
	sums    *calls.Sums // by frame
	tracks  []calls.Sum // by track
	spans   durations.Names
	event   stream.Series // of the markers in spans
	markers []durations.Markers
}

// New returns a Sink that sums up by one of [Ways]. The error is [ErrBy].
func New(by string) (*Sink, error) {
	s := &Sink{Table: &Table{By: by, Rows: []Row{}, Markers: []MarkerRow{}}}
	for _, w := range ways {
		if w.name == by {
			s.frame, s.track = w.frame, w.track
			return s, nil
		}
	}
	if by != Marker {
		return nil, fmt.Errorf("%w: %q, want one of %s", ErrBy, by, strings.Join(Ways(), ", "))
	}
	return s, nil
}

// Begin prepares for the frames of t.
func (s *Sink) Begin(t *stream.Tables) error {
	s.tables, s.names = t, calls.NewNames()
	if s.frame != nil {
		var keys []calls.Key
		keys, s.names = calls.Keys(t, s.frame)
		var err error
		if s.sums, err = calls.New(t, keys); err != nil {
			return err
		}
	}
	return nil
}

// Segment adds the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	switch {
	case b.Series.Kind == stream.Markers && s.Table.By == Marker:
		s.mark(b)
	case b.Series.Kind == stream.Samples && s.sums != nil:
		s.sums.Add(b)
	case b.Series.Kind == stream.Samples && s.track != nil:
		s.sample(b)
	}
	return nil
}

// sample adds samples to their track.
func (s *Sink) sample(b *stream.Batch) {
	key := s.names.Intern(s.track(s.tables, b.Series))
	for len(s.tracks) <= int(key) {
		s.tracks = append(s.tracks, calls.Sum{Key: calls.Key(len(s.tracks))})
	}
	sum := &s.tracks[key]
	sum.Self.AddRows(b)
	sum.Total = sum.Self
}

// mark adds markers to their name.
func (s *Sink) mark(b *stream.Batch) {
	if b.Series != s.event {
		s.endEvent()
		s.event = b.Series
	}
	s.spans.Add(b, s.tables.Event(b.Series.Event))
}

func (s *Sink) endEvent() {
	if s.event.Event == 0 {
		return
	}
	s.spans.Take(s.tables.Event(s.event.Event), func(name string, m durations.Markers) {
		key := s.names.Intern(name)
		for len(s.markers) <= int(key) {
			s.markers = append(s.markers, durations.Markers{})
		}
		s.markers[key].Add(m)
	})
}

// Close makes the table.
func (s *Sink) Close() error {
	s.endEvent()
	sums := s.tracks
	if s.sums != nil {
		s.Table.All = Amount(s.sums.All)
		sums = s.sums.Take()
	} else {
		for _, sum := range sums {
			all := calls.Amount(s.Table.All)
			all.Add(sum.Self)
			s.Table.All = Amount(all)
		}
	}
	s.list(sums)
	s.listMarkers()
	return nil
}

// list makes the rows of what has samples.
func (s *Sink) list(sums []calls.Sum) {
	for _, sum := range sums {
		if sum.Total.Samples > 0 || sum.Total.CPU > 0 {
			s.Table.Rows = append(s.Table.Rows, Row{s.names.All[sum.Key], Amount(sum.Self), Amount(sum.Total)})
		}
	}
	timed := s.Table.Timed()
	slices.SortFunc(s.Table.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Self.Value(timed), a.Self.Value(timed)), cmp.Compare(b.Total.Value(timed), a.Total.Value(timed)), cmp.Compare(a.Name, b.Name))
	})
}

// Value is CPU time in ns, or else the number of samples.
func (a Amount) Value(cpu bool) int64 {
	if cpu {
		return a.CPU
	}
	return a.Samples
}

func (s *Sink) listMarkers() {
	for key, m := range s.markers {
		if m.Count > 0 {
			s.Table.Markers = append(s.Table.Markers, MarkerRow{s.names.All[key], m.Count, m.Took.Count, m.Unpaired,
				m.Took.All, m.Took.Quantile(0.5), m.Took.Quantile(0.99), m.Took.Max, exemplars(m.Slowest)})
		}
	}
	slices.SortFunc(s.Table.Markers, func(a, b MarkerRow) int {
		return cmp.Or(cmp.Compare(b.All, a.All), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
}
