// Package slow says where the time of slow intervals went, compared with the other intervals of the same name.
//
// # What is compared
//
// A [filter.Query] chooses some intervals of a name, such as those of http.request that took longer than 100 ms; all
// others of the name are the rest. A percentile, such as duration>p99, is that of the intervals of each name that fulfil
// the query's other conditions, by the nearest rank: of n of them, in the order of their durations, that number
// p·n/100, rounded up. A query without a condition on the duration or a field means duration>p99. A start and its end are one
// interval; a start without an end is still running and in neither group.
//
// # How time is split
//
// The time is that of the goroutine on which the interval began; what others did for it meanwhile is a wait. Where an
// execution trace tells the goroutine's states, the split is exact. Elsewhere CPU samples, and rounds over goroutines that
// wait, are estimates: each look stands for the time between two. All else is unknown.
//
// # What is more
//
// The share that something has of a group's time is compared with its share of the other group's. Each interval is one
// observation, whatever it lasts: the error is that of a ratio of sums over intervals, the probability by
// Student's distribution with Welch's degrees of freedom. What intervals have or have not, such as a value of an argument, is
// compared by Fisher's exact test. Of all these probabilities, those are found that Benjamini and Hochberg's procedure takes at
// 5 %. Intervals that are slow for one common reason, at one time, are not independent: then the probabilities are too small.
package slow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"gprof/convert/internal/durations"
	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/spill"
)

// Options are the options of [New].
type Options struct {
	Query filter.Query
	// Rows, unless nil, gets a row of comma-separated values for each interval, with its own split, for programs that
	// read tables. Times are in ns.
	Rows io.Writer
	// SpillDir is where intervals and what goroutines did wait; "" is os.TempDir. It should not be in memory.
	SpillDir string
}

// Sink makes a Report. Rows wait in temporary files; memory grows with the names and stacks that there are, and
// with the intervals that go on at a time.
type Sink struct {
	Report  Report // whole once Close has returned
	Nothing error  // why there is no Report: a [filter.ErrNoMatch] or an [ErrNothing]; nil if there is one

	query  filter.Query
	dir    string
	out    io.Writer
	tables *stream.Tables
	file   *spill.File
	took   *spill.Sorter // durations, by name
	acts   *spill.Sorter // what goroutines did
	spool  *stream.Spool // the markers
	events []*boundEvent // by EventID
	first  pairs
	names  map[string]*name
	byName []*name
	period map[stream.ProcessID]int64
	seen   struct{ samples, ownedWaits, waits, states, instants bool }
	busy   map[stream.ProcessID]*pressure
	others filter.Names // of events, and those that markers have of their own, for an error
	buffer []byte
}

// name is the intervals of one name.
type name struct {
	Name
	number     uint32
	fitting    int64             // that fulfil the conditions on fields
	thresholds map[float64]int64 // by share
}

// boundEvent is an event, bound to the query.
type boundEvent struct {
	bound        filter.Bound
	wanted       bool
	state, wakes bool
}

// Memory of what is kept, in bytes.
const (
	sorterBytes = 4 << 20
	nameBytes   = 256
)

// New returns a Sink.
func New(o Options) *Sink {
	return &Sink{query: o.Query, dir: o.SpillDir, out: o.Rows, names: map[string]*name{}, period: map[stream.ProcessID]int64{}, busy: map[stream.ProcessID]*pressure{}, others: filter.Names{}}
}

// Default is the query that a text means: without any condition, those of a duration above the 99th percentile.
func Default(text string) (filter.Query, error) {
	q, err := filter.ParseQuery(text)
	if err != nil || q.Conditional() {
		return q, err
	}
	return filter.ParseQuery(q.String() + "[duration>p99]")
}

// Begin implements [stream.Sink].
func (s *Sink) Begin(t *stream.Tables) error {
	s.tables = t
	s.file, s.spool = spill.New(s.dir), stream.NewSpool(s.dir)
	s.took, s.acts = spill.NewSorter(s.file, 4+8, sorterBytes/4), spill.NewSorter(s.file, recordSize, sorterBytes)
	s.first = pairs{tables: t, each: s.count, others: s.others.Add}
	return t.Reserve(3*sorterBytes + int64(t.Stacks.Len())*8)
}

// event is what is known of an event.
func (s *Sink) event(id stream.EventID) *boundEvent {
	for int(id) >= len(s.events) {
		s.events = append(s.events, nil)
	}
	if s.events[id] == nil {
		e := s.tables.Event(id)
		x := &boundEvent{state: e.Name == stateEvent, wakes: e.Name == wakeEvent}
		x.bound, x.wanted = s.query.Bind(e)
		s.others[e.Name] = true
		s.events[id] = x
	}
	return s.events[id]
}

// Segment implements [stream.Sink].
func (s *Sink) Segment(b *stream.Batch) error {
	switch b.Series.Kind {
	case stream.Markers:
		return s.markers(b)
	case stream.Samples:
		s.seen.samples = true
		return s.addAll(b, s.sample)
	case stream.Waits:
		s.seen.waits = true
		return s.addAll(b, s.wait)
	case stream.Counts:
		s.counts(b)
	}
	return nil
}

func (s *Sink) markers(b *stream.Batch) error {
	e := s.event(b.Series.Event)
	switch {
	case e.state:
		s.seen.states = true
		return s.addAll(b, s.state)
	case e.wakes:
		return s.addAll(b, func(b *stream.Batch, i int, r *record) { r.kind, r.stack = aWake, b.Stack[i] })
	case e.wanted:
		if err := s.first.take(b, e.bound); err != nil {
			return err
		}
		return s.spool.Write(b)
	}
	return nil
}

// addAll adds what set makes of the rows of goroutines; of a row that it leaves alone it makes nothing.
func (s *Sink) addAll(b *stream.Batch, set func(b *stream.Batch, i int, r *record)) error {
	if len(b.Goroutine) == 0 {
		return nil
	}
	for i, g := range b.Goroutine {
		r := record{process: b.Series.Process, goroutine: g, from: b.Time[i], kind: nothing}
		if g != 0 {
			set(b, i, &r)
		}
		if r.kind == nothing {
			continue
		}
		if err := s.add(&r); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sink) add(r *record) error {
	s.buffer = r.append(s.buffer[:0])
	return s.acts.Add(s.buffer)
}

func (s *Sink) state(b *stream.Batch, i int, r *record) {
	if of, ok := states[string(b.Args[0].TextAt(i))]; ok && b.Phase[i] == stream.Interval {
		if of == waiting && len(b.Args) > 1 && b.Args[1].TypeAt(i) == stream.Text && len(b.Args[1].TextAt(i)) > 0 {
			of = because + int64(partOf(string(b.Args[1].TextAt(i))))
		}
		r.kind, r.to, r.stack, r.value = aState, r.from+stream.Time(b.Duration[i]), b.Stack[i], of
	}
}

func (s *Sink) sample(b *stream.Batch, i int, r *record) {
	ns := b.CPU[i]
	if ns < 0 {
		ns = b.Weight[i] * s.tables.Process(r.process).Interval
	}
	if ns > 0 {
		r.kind, r.stack, r.value = aSample, b.Stack[i], ns
	}
}

func (s *Sink) wait(b *stream.Batch, i int, r *record) {
	if b.Value[i] <= 0 {
		return
	}
	s.seen.ownedWaits = true
	r.kind, r.stack, r.value = aWait, b.Stack[i], b.Value[i]
	if p := s.period[r.process]; p == 0 || r.value < p {
		s.period[r.process] = r.value // a row is at least one look
	}
}

// count takes an interval when it comes first.
func (s *Sink) count(x *interval) error {
	n := s.named(x.name)
	if x.open {
		n.Open++
		return nil
	}
	n.Intervals++
	n.Longest = max(n.Longest, int64(x.to-x.from))
	if len(s.query.Percentiles()) == 0 || !s.holds(x) {
		return nil
	}
	n.fitting++
	s.buffer = binary.BigEndian.AppendUint32(s.buffer[:0], n.number)
	s.buffer = binary.BigEndian.AppendUint64(s.buffer, uint64(x.to-x.from))
	return s.took.Add(s.buffer)
}

// holds reports whether an interval fulfils the conditions on fields.
func (s *Sink) holds(x *interval) bool { return x.bound.Holds(x.bits) }

// named finds or adds a name. Too many are one.
func (s *Sink) named(text string) *name {
	n := s.names[text]
	if n == nil && len(s.names) >= durations.MaxNames {
		text = "(others)"
		n = s.names[text]
	}
	if n == nil {
		n = &name{Name: Name{Name: text, Threshold: -1}, number: uint32(len(s.byName)), thresholds: map[float64]int64{}}
		s.names[text] = n
		s.byName = append(s.byName, n)
	}
	return n
}

// ErrNothing says that there is nothing to compare.
var ErrNothing = errors.New("nothing to compare")

// Close implements [stream.Sink].
func (s *Sink) Close() error {
	defer s.file.Close()
	defer s.spool.Close()
	if err := s.first.finish(); err != nil {
		return err
	}
	if s.Nothing = s.exist(); s.Nothing != nil {
		return nil
	}
	if err := s.rank(); err != nil {
		return err
	}
	return s.compare()
}

// exist returns an error if no interval is called so.
func (s *Sink) exist() error {
	if len(s.byName) > 0 {
		return nil
	}
	if s.first.named {
		return fmt.Errorf("%w: markers of %s have no duration: they are moments, or ends without a start", ErrNothing, s.query.Name)
	}
	return filter.NoMatch(fmt.Sprintf("no marker is called %s", s.query.Name), s.others.List())
}

// rank finds the percentiles.
func (s *Sink) rank() error {
	shares := s.query.Percentiles()
	var at *name
	var before int64
	return s.took.Each(func(r []byte) error {
		n := s.byName[binary.BigEndian.Uint32(r)]
		if n != at {
			at, before = n, 0
		}
		before++
		for _, share := range shares {
			if before == max(1, int64(math.Ceil(share*float64(n.fitting)-rounding))) {
				n.thresholds[share] = int64(binary.BigEndian.Uint64(r[4:]))
				n.Threshold = n.thresholds[share]
			}
		}
		return nil
	})
}

// rounding is by how much a rank may be off since shares are binary fractions.
const rounding = 1e-6

// isSlow reports whether an interval is one of those that are asked for.
func (s *Sink) isSlow(n *name, x *interval) bool {
	return s.holds(x) && s.query.Lasts(int64(x.to-x.from), func(share float64) int64 { return n.thresholds[share] })
}

// compare goes along all goroutines.
func (s *Sink) compare() error {
	w := &sweep{tables: s.tables, causes: newCauses(s.tables), period: s.period, rows: newRows(s.out, s.tables, s.byName)}
	for i := range w.groups {
		w.groups[i] = &tally{causes: map[int32]*ratio{}, wakers: map[wakerKey]*Waker{}}
	}
	t := newTraits(s.tables)
	var slowest durations.Slowest
	p := pairs{tables: s.tables, traits: t.of, each: func(x *interval) error {
		n, group := s.named(x.name), rest
		switch {
		case x.open:
			group = open
		case s.isSlow(n, x):
			group = slow
			n.Slow++
			if x.span != (stream.Span{}) {
				slowest.Offer(durations.Exemplar{Took: int64(x.to - x.from), At: x.from, Of: x.span})
			}
		}
		t.count(group, x.traits)
		r := record{process: x.process, goroutine: x.goroutine, from: x.from, to: x.to, kind: anInterval, stack: stream.StackID(n.number), value: int64(group), span: x.span}
		if x.goroutine == 0 {
			w.ownerless(r)
			return nil
		}
		return s.add(&r)
	}}
	s.spool.Rewind()
	var b stream.Batch
	for s.spool.Next(&b) == nil {
		if err := p.take(&b, s.event(b.Series.Event).bound); err != nil {
			return err
		}
	}
	if err := p.finish(); err != nil {
		return err
	}
	if s.Nothing = s.some(); s.Nothing != nil {
		return nil
	}
	if err := s.acts.Each(func(b []byte) error { w.take(readRecord(b)); return nil }); err != nil {
		return err
	}
	w.expire(math.MaxInt64)
	s.report(w, t, &slowest, p.alone)
	return errors.Join(w.rows.flush(), s.file.Err())
}

// some returns an error if no interval is slow, or all are.
func (s *Sink) some() error {
	var slow, all int64
	for _, n := range s.byName {
		slow, all = slow+n.Slow, all+n.Intervals
	}
	if slow > 0 || all == 0 {
		return nil
	}
	err := fmt.Errorf("%w: of %d intervals none is %s", ErrNothing, all, s.query)
	if n := s.byName[0]; len(s.byName) == 1 && n.fitting > 0 {
		err = fmt.Errorf("%w, which is %v; the longest takes %v", err, time.Duration(n.Threshold), time.Duration(n.Longest))
		if n.Threshold == n.Longest {
			err = fmt.Errorf("%w: of so few, it is that percentile itself; ask for duration>=, or for a lower one", err)
		}
	}
	return err
}

// sorted are the names in the order of their texts.
func (s *Sink) sorted() (all []Name) {
	for _, n := range s.byName {
		all = append(all, n.Name)
	}
	slices.SortFunc(all, func(a, b Name) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}
