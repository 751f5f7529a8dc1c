// Package top is the table of what took most: of functions, or of packages,
// files, lines, categories, modules, tracks or processes; of markers, with how
// long they took; and of counters, with what they came to.
//
// What they took is CPU time, samples, memory or time of waiting. Self is what
// something took by itself, total is that with all that it called; of a function
// that calls itself every sample counts once. Memory does not grow with the
// number of rows.
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

// Groupings of what is not at stacks.
const (
	Marker  = "marker"  // markers, by their names
	Counter = "counter" // each counter of each process
)

// Kinds of figures that are summed up at stacks, beside the names of measures. [Auto] is CPU time if it is known of all
// samples, else their number; without samples it is what else there is.
const (
	Auto        = "auto"
	CPU         = string(calls.CPU)     // of samples that have it
	Samples     = string(calls.Samples) // the number of those that have none
	Heap        = string(calls.Heap)
	Allocations = string(calls.Allocations)
	Waits       = string(calls.Waits)
)

// ErrOf is the error of what to sum up, for which its grouping has no place.
var ErrOf = errors.New("can't be summed up")

// MeasureError is the error of what to sum up, which the recording does not have.
type MeasureError = calls.MeasureError

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
	return append(names, Marker, Counter)
}

func trackName(t *stream.Tables, s stream.Series) string {
	return processName(t, s) + " · " + t.Tracks.At(s.Track).Name
}

func processName(t *stream.Tables, s stream.Series) string { return t.Process(s.Process).Title() }

// Table is what a recording adds up to.
type Table struct {
	By       string       `json:"by"`
	Of       string       `json:"of"`                 // one of these, a measure, or [Auto] if that is samples
	Unit     string       `json:"unit,omitempty"`     // of a measure: bytes, ns or its own
	Measures []string     `json:"measures,omitempty"` // that there are
	All      Amount       `json:"all"`                // of all samples
	Rows     []Row        `json:"rows"`               // those that took most come first
	Markers  []MarkerRow  `json:"markers"`            // only by [Marker]
	Counters []CounterRow `json:"counters"`
	Ages     []Age        `json:"ages,omitempty"` // by process, of [Heap], [Allocations] and [Waits]
}

// Amount is a sum, saturated. What is not summed up is 0.
type Amount struct {
	Samples int64 `json:"samples"` // by weight
	Timed   int64 `json:"timed"`   // of them, those whose CPU time is known
	CPU     int64 `json:"cpu_ns"`
	Bytes   int64 `json:"bytes,omitempty"`   // of [Heap] or [Allocations]
	Wait    int64 `json:"wait_ns,omitempty"` // of [Waits]
	Value   int64 `json:"value,omitempty"`   // of a measure
}

// amount is a sum of what the table is of.
func (t *Table) amount(a calls.Amount) Amount {
	switch t.Of {
	case Heap, Allocations:
		return Amount{Bytes: a.CPU}
	case Waits:
		return Amount{Wait: a.CPU}
	}
	if t.Measured() {
		return Amount{Value: a.CPU}
	}
	return Amount{Samples: a.Samples, Timed: a.Timed, CPU: a.CPU}
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

// Timed says that CPU time is used. Otherwise, if the table is of samples, their number is.
func (t *Table) Timed() bool {
	return t.Of == CPU || t.Of == Auto && t.All.CPU > 0 && t.All.Timed == t.All.Samples
}

// Measured says that a measure is used.
func (t *Table) Measured() bool { return t.Of != Auto && calls.Basis(t.Of).IsMeasure() }

// Value is what counts of an amount of the table: ns, bytes, samples or the unit of a measure.
func (t *Table) Value(a Amount) int64 {
	switch {
	case t.Of == Heap || t.Of == Allocations:
		return a.Bytes
	case t.Of == Waits:
		return a.Wait
	case t.Measured():
		return a.Value
	case t.Timed():
		return a.CPU
	}
	return a.Samples
}

// Sink makes a Table.
type Sink struct {
	Table *Table // whole once Close has returned

	frame   func(*stream.Tables, stream.Frame) string
	track   func(*stream.Tables, stream.Series) string
	tables  *stream.Tables
	names   *calls.Names
	meter   calls.Meter
	sums    *calls.Sums // by frame
	tracks  []calls.Sum // by track
	ages    ages
	spans   durations.Names
	event   stream.Series // of the markers in spans
	markers []durations.Markers
	reading reading // counter that is being read
}

// New returns a Sink that sums up by one of [Ways] what is [Auto], another of these kinds, or a measure. The error is
// [ErrBy] or [ErrOf]; that of Begin is a *[MeasureError].
func New(by, of string) (*Sink, error) {
	s := &Sink{Table: &Table{By: by, Of: of, Rows: []Row{}, Markers: []MarkerRow{}, Counters: []CounterRow{}}}
	if of != Auto {
		s.meter.Of = calls.Basis(of)
	}
	for _, w := range ways {
		if w.name == by {
			s.frame, s.track = w.frame, w.track
			return s, nil
		}
	}
	switch {
	case by != Marker && by != Counter:
		return nil, fmt.Errorf("%w: %q, want one of %s", ErrBy, by, strings.Join(Ways(), ", "))
	case of != Auto:
		return nil, fmt.Errorf("%w: %ss have no stacks, at which %s could be", ErrOf, by, of)
	}
	return s, nil
}

// Begin prepares for the frames of t.
func (s *Sink) Begin(t *stream.Tables) error {
	s.tables, s.names = t, calls.NewNames()
	if s.Table.By != Marker && s.Table.By != Counter {
		s.Table.choose(&s.meter, t)
	}
	s.meter.Give = s.atTrack
	if s.frame != nil {
		var keys []calls.Key
		keys, s.names = calls.Keys(t, s.frame)
		var err error
		if s.sums, err = calls.New(t, keys); err != nil {
			return err
		}
		s.meter.Give = func(at calls.Place, a calls.Amount) { s.sums.AddAmount(at.Stack, a) }
	}
	return s.Table.begin(&s.meter, t)
}

// needs says which rows are needed, while it may not be clear yet what [Auto] is.
func (t *Table) needs(m *calls.Meter, k stream.Kind, of *stream.Tables) stream.Need {
	if need := m.Needs(k); need != stream.NeedsTally || t.Of != Auto || !calls.OnlyProfiles(of) {
		return need
	}
	switch k {
	case stream.Waits, stream.Allocations, stream.Measurements:
		return stream.NeedsRows
	}
	return stream.NeedsTally
}

// choose decides what [Auto] is.
func (t *Table) choose(m *calls.Meter, of *stream.Tables) {
	t.Measures = calls.Measures(of)
	if t.Of != Auto {
		return
	}
	if m.Of = calls.Default(of); m.Of != "" {
		t.Of = string(m.Of)
	}
}

// begin begins, and learns the unit.
func (t *Table) begin(m *calls.Meter, of *stream.Tables) error {
	err := m.Begin(of)
	if err == nil && m.Of.IsMeasure() {
		t.Unit = m.Unit
	}
	return err
}

// Needs implements [stream.Summer].
func (s *Sink) Needs(k stream.Kind, t *stream.Tables) stream.Need {
	switch {
	case s.Table.By == Marker && k == stream.Markers, s.Table.By == Counter && k == stream.Counts:
		return stream.NeedsRows
	case s.Table.By == Marker, s.Table.By == Counter:
		return stream.NeedsTally
	}
	need := s.Table.needs(&s.meter, k, t)
	if s.track != nil && need == stream.NeedsStacks {
		need = stream.NeedsRows
	}
	return need
}

// Sums implements [stream.Summer].
func (s *Sink) Sums(sums *stream.Sums) error {
	if s.frame != nil {
		s.meter.Sums(sums)
	}
	return nil
}

// Segment adds the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	switch kind := b.Series.Kind; {
	case s.Table.By == Marker:
		if kind == stream.Markers {
			s.mark(b)
		}
	case s.Table.By == Counter:
		if kind == stream.Counts {
			s.count(b)
		}
	default:
		s.ages.see(b, s.meter.Of)
		s.meter.Add(b)
	}
	return nil
}

// atTrack adds an amount to its track, or process.
func (s *Sink) atTrack(at calls.Place, a calls.Amount) {
	key := s.names.Intern(s.track(s.tables, at.Series))
	for len(s.tracks) <= int(key) {
		s.tracks = append(s.tracks, calls.Sum{Key: calls.Key(len(s.tracks))})
	}
	sum := &s.tracks[key]
	sum.Self.Add(a)
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
	s.endCounter()
	s.meter.End()
	s.meter.Tell(&s.tables.Ledger)
	var all calls.Amount
	sums := s.tracks
	if s.sums != nil {
		all = s.sums.All
		sums = s.sums.Take()
	} else {
		for _, sum := range sums {
			all.Add(sum.Self)
		}
	}
	s.Table.All = s.Table.amount(all)
	s.Table.Ages = s.ages.list(s.tables, s.Table.Of)
	s.list(sums)
	s.listMarkers()
	s.sortCounters()
	return nil
}

// list makes the rows of what has samples.
func (s *Sink) list(sums []calls.Sum) {
	t := s.Table
	for _, sum := range sums {
		if sum.Total.Samples > 0 || sum.Total.CPU > 0 {
			t.Rows = append(t.Rows, Row{s.names.All[sum.Key], t.amount(sum.Self), t.amount(sum.Total)})
		}
	}
	slices.SortFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(t.Value(b.Self), t.Value(a.Self)), cmp.Compare(t.Value(b.Total), t.Value(a.Total)), cmp.Compare(a.Name, b.Name))
	})
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
