// Package totals sums up CPU and heap samples by track and stack, for formats that keep sums rather
// than moments, and counts what such a format has no place for.
package totals

import (
	"math"

	"gprof/stream"
)

// Total is the sum of samples of one stack of a track, saturated.
type Total struct {
	Stack  stream.StackID // 0 none
	Owner  stream.Owner   // where sums are by that, but for the thread
	Weight int64          // samples
	CPU    int64          // ns, of the samples with a known CPU time

	Allocated, Freed Memory

	Wall int64 // ns of waiting

	Value int64 // of a measure; below 0 in a difference
}

// Zero reports whether all values are 0.
func (t *Total) Zero() bool { return *t == Total{Stack: t.Stack, Owner: t.Owner} }

// Memory is objects of the heap.
type Memory struct{ Objects, Bytes int64 }

// Totals sums up what a sink is given. Its memory depends on the number of stacks only: those of
// one track at a time, with a bounded number of goroutines, are held.
type Totals struct {
	Rows    int64 // of all kinds
	Unknown int64 // samples whose CPU time is unknown

	// Every is the length of a bucket of time, if sums are by bucket, too: one begins at the Unix
	// epoch. Set it before the first Add.
	Every stream.Time
	// Heap, Waits and Measurements say that the output has a place for those. They are delivered
	// separately, after the track's samples. Set them before the first Add.
	Heap, Waits, Measurements bool
	// ByWho makes sums of each goroutine and label set. Goroutines may be as many as samples, so a
	// track is then delivered in several parts, which may overlap. Set it before the first Add.
	ByWho bool
	// Spans makes them also of each span of a trace. Set it before the first Add.
	Spans bool

	// Parts allows a track to be delivered in several parts that overlap, so that no more than maxPart totals are
	// held. Set it before the first Add.
	Parts bool

	// Aside delivers parts on another goroutine, one after the other, while the next is summed up, but for small ones. Set it
	// before the first Add.
	Aside bool

	// OwnClocks makes Span tell times by each process' own clock: on the time line of the run they
	// depend on the other processes. Set it before the first Add.
	OwnClocks bool

	tables *stream.Tables
	done   func(*Part)
	series stream.Series // being summed up
	at     stream.Time   // beginning of its bucket
	part   *Part
	parts  int // before it
	index  index
	spans  spanNumbers
	aside  chan *Part // what was delivered on another goroutine comes back; nil: nothing is
	lost   stream.Ledger

	dated       bool // first and last are known
	first, last stream.Time
	undated     stream.Time // the longest duration of what has no time
}

// maxPart bounds the totals of a part, if there may be several.
const maxPart = 1 << 14

// New returns the Totals of an output of t. done is called for each track with samples, or each
// bucket of one, in the order of segments; its part is valid until it returns.
func New(t *stream.Tables, done func(*Part)) *Totals {
	return &Totals{tables: t, done: done, part: new(Part), index: newIndex(t.Stacks.Len())}
}

// Add takes a segment of any kind.
func (t *Totals) Add(b *stream.Batch) {
	if b.Len() == 0 {
		return
	}
	t.see(b)
	t.Rows += int64(b.Len())
	kind := b.Series.Kind
	if !t.takes(kind) {
		t.lost.Add(stream.Line{Process: t.tables.Process(b.Series.Process).InstanceName(), Reason: stream.ReasonNoPlace, What: kind.String(), Count: int64(b.Len())})
		return
	}
	if b.Series != t.series {
		t.deliver()
		t.series = b.Series
	}
	for from := 0; from < b.Len(); from += together {
		t.addSome(b, from, min(from+together, b.Len()))
	}
}

// together is how many rows are looked up at once, so that their cache misses overlap.
const together = 64

// addSome adds the rows from from to to-1.
func (t *Totals) addSome(b *stream.Batch, from, to int) {
	var keys [together]key
	for i := range keys[:to-from] {
		keys[i] = t.key(b, from+i)
	}
	var numbers [together]int32
	t.index.guess(t.part, keys[:to-from], numbers[:])
	part := t.parts
	for i := from; i < to; i++ {
		if t.Every > 0 {
			t.reach(b.Time[i])
		}
		k := &keys[i-from]
		if t.parts != part { // where spans have other numbers
			*k = t.key(b, i)
		}
		t.count(b, i, t.row(b, i, k, numbers[i-from]))
	}
}

// count adds a row of b to a sum.
func (t *Totals) count(b *stream.Batch, i int, to *row) {
	switch v := &to.values; b.Series.Kind {
	case stream.Allocations:
		of := v[:2] // allocated
		if b.Value[i] < 0 {
			of = v[2:] // freed
		}
		of[0], of[1] = Plus(of[0], b.Number[i]), Plus(of[1], magnitude(b.Value[i]))
	case stream.Waits:
		v[0] = Plus(v[0], b.Value[i])
	case stream.Measurements:
		v[0] = Sum(v[0], b.Value[i])
	default:
		v[0], v[1] = Plus(v[0], b.Weight[i]), Plus(v[1], b.CPU[i])
		if b.CPU[i] < 0 {
			t.Unknown = Plus(t.Unknown, b.Weight[i])
		}
	}
}

// magnitude is the absolute value, as far as there is one.
func magnitude(n int64) int64 { return max(n, -n) }

// takes reports whether the output has a place for a kind.
func (t *Totals) takes(kind stream.Kind) bool {
	switch kind {
	case stream.Samples:
		return true
	case stream.Allocations:
		return t.Heap
	case stream.Waits:
		return t.Waits
	case stream.Measurements:
		return t.Measurements
	}
	return false
}

// reach delivers the bucket that ends before a sample.
func (t *Totals) reach(at stream.Time) {
	if at >= t.at && uint64(at)-uint64(t.at) < uint64(t.Every) {
		return
	}
	t.deliver()
	t.at = at - (at%t.Every+t.Every)%t.Every
}

// see notes when the rows of a segment are. Those of a profile have no moment of their own, so
// they count as from its beginning to its end.
func (t *Totals) see(b *stream.Batch) {
	p := t.tables.Process(b.Series.Process)
	first, last := b.Time[0], b.Time[b.Len()-1]
	if len(p.Profile.Types) > 0 {
		first, last = p.Start, max(p.Start, p.End)
	}
	if t.OwnClocks {
		if p.Clock.By == stream.PlacedByRun {
			t.undated = max(t.undated, last-first)
			return
		}
		first, last = first-p.Clock.Shift, last-p.Clock.Shift
	}
	if !t.dated {
		t.dated, t.first, t.last = true, first, last
	}
	t.first, t.last = min(t.first, first), max(t.last, last)
}

// Span is from the first row to the last. By own clocks, what has no time counts only if there is
// nothing else.
func (t *Totals) Span() (first, last stream.Time) {
	if !t.dated {
		return 0, t.undated
	}
	return t.first, t.last
}

// row is where a row of b counts: that of its key, whose number was guessed.
func (t *Totals) row(b *stream.Batch, i int, k *key, guessed int32) *row {
	if guessed > 0 && int(guessed) <= t.part.len() {
		if r := t.part.at(guessed - 1); r.key == *k {
			return r
		}
	}
	number, at := t.index.find(t.part, *k)
	if number > 0 {
		return t.part.at(number - 1)
	}
	other := t.index.isOther(*k, at)
	if other && t.index.others == maxOthers || !other && t.Parts && t.part.len() >= maxPart {
		t.deliver()
		*k = t.key(b, i)
		return t.row(b, i, k, 0)
	}
	new := t.part.push(*k)
	*at = t.index.base + int32(t.part.len())
	if other {
		t.index.note(t.part)
	}
	return new
}

// key is by what the sums are.
func (t *Totals) key(b *stream.Batch, i int) key {
	k := key{stack: b.Stack[i]}
	if !t.ByWho {
		return k
	}
	if len(b.Goroutine) > 0 {
		k.goroutine = b.Goroutine[i]
	}
	if len(b.Labels) > 0 {
		k.labels = b.Labels[i]
	}
	if t.Spans && len(b.Span) > 0 {
		k.span = t.spans.of(t.part, b.Span[i])
	}
	return k
}

// Plus adds non-negative numbers, saturated.
func Plus(sum, n int64) int64 {
	if n <= 0 {
		return sum
	}
	if sum > math.MaxInt64-n {
		return math.MaxInt64
	}
	return sum + n
}

// Sum adds numbers, saturated.
func Sum(sum, n int64) int64 {
	switch {
	case n > 0 && sum > math.MaxInt64-n:
		return math.MaxInt64
	case n < 0 && sum < math.MinInt64-n:
		return math.MinInt64
	}
	return sum + n
}

// smallPart is how many totals are delivered in less time than another goroutine takes to start.
const smallPart = 128

// deliver ends a part.
func (t *Totals) deliver() {
	p := t.part
	if p.len() == 0 {
		return
	}
	t.parts++
	p.Process, p.Track, p.Kind, p.Measure, p.At = t.series.Process, t.series.Track, t.series.Kind, t.series.Counter, t.at
	t.index.forget(p.len())
	t.spans.reset()
	if !t.Aside {
		t.finish(p)
		return
	}
	if t.aside == nil {
		t.aside = make(chan *Part, 1)
		t.aside <- new(Part)
	}
	other := <-t.aside // all before it was delivered
	if p.len() <= smallPart {
		t.finish(p)
		t.aside <- other
		return
	}
	t.part = other
	go func() {
		t.finish(p)
		t.aside <- p
	}()
}

func (t *Totals) finish(p *Part) {
	t.done(p)
	p.reset()
}

// Finish delivers what is not yet delivered: after the last segment. All is when it returns.
func (t *Totals) Finish() {
	t.deliver()
	if t.aside != nil {
		t.aside <- <-t.aside
	}
}

// Tell adds rows without a place to the ledger of the tables.
func (t *Totals) Tell() {
	for _, line := range t.lost.Lines() {
		t.tables.Ledger.Add(line)
	}
}
