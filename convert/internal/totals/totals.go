// Package totals sums up samples, of the CPU and of the heap, for formats that keep sums rather than
// moments: by track and stack. It counts what such a format has no place for.
package totals

import (
	"fmt"
	"math"

	"gprof/stream"
)

// Total is what the samples of one stack of a track add up to. Sums stop at the
// largest number.
type Total struct {
	Stack  stream.StackID // 0 none
	Who    stream.Who     // where sums are by that, but for the thread
	Weight int64          // samples
	CPU    int64          // ns, of the samples whose CPU time is known

	Allocated, Freed Memory

	Wall int64 // ns of waiting

	Value int64 // of Totals.Measure; below 0 in a difference
}

// Zero reports whether nothing has a value.
func (t *Total) Zero() bool { return *t == Total{Stack: t.Stack, Who: t.Who} }

// Memory is objects of the heap.
type Memory struct{ Objects, Bytes int64 }

// add adds what of a row of allocations is not negative.
func (m *Memory) add(bytes, objects int64) {
	m.Objects, m.Bytes = Plus(m.Objects, objects), Plus(m.Bytes, bytes)
}

// Totals sums up what a sink is given. Its memory depends on the number of
// stacks alone: those of one track at a time are held, and with them a bounded
// number of goroutines.
type Totals struct {
	First, Last stream.Time // of all rows, once there are any
	Rows        int64       // of all kinds
	Unknown     int64       // samples whose CPU time is unknown

	// Every is how long a bucket of time is, if sums are by bucket, too: the first
	// begin at the Unix epoch and before it. It is set before the first Add.
	Every stream.Time
	// Heap, Waits and Measurements say that the output has a place for those.
	// They are given out by themselves, after the samples of the track. They are set
	// before the first Add.
	Heap, Waits, Measurements bool
	// Measure is what the totals that are given out are of, if they are of
	// measurements; else 0.
	Measure stream.CounterID
	At      stream.Time // the beginning of the bucket that is given out

	// ByWho makes sums of each goroutine and each set of labels. Goroutines may be
	// as many as samples, so a track is then given out in several parts, which may
	// hold the same more than once. It is set before the first Add.
	ByWho bool

	tables *stream.Tables
	done   func(process stream.ProcessID, track stream.TrackID, totals []Total)
	series stream.Series // of the samples, or allocations, that are being summed up
	totals []Total
	at     []int32         // by StackID: 1 and where its first is in totals, 0 nowhere
	others map[other]int32 // where further ones are
	lost   map[lostKey]int64
}

// other is what further totals of a stack are found by.
type other struct {
	stack stream.StackID
	who   stream.Who
}

// maxOthers is how many of them are held.
const maxOthers = 1 << 16

type lostKey struct {
	process stream.ProcessID
	kind    stream.Kind
}

// New returns the Totals of an output of t. done is called for each track that
// has samples, or each bucket of one, in the order of segments; its totals are
// in the order in which the stacks were first seen, and valid until it returns.
func New(t *stream.Tables, done func(process stream.ProcessID, track stream.TrackID, totals []Total)) *Totals {
	return &Totals{tables: t, done: done, at: make([]int32, t.Stacks.Len()+1), others: make(map[other]int32), lost: make(map[lostKey]int64)}
}

// Add takes a segment of any kind.
func (t *Totals) Add(b *stream.Batch) {
	if b.Len() == 0 {
		return
	}
	t.see(b.Time[0], b.Time[b.Len()-1])
	t.Rows += int64(b.Len())
	kind := b.Series.Kind
	if !t.takes(kind) {
		t.lost[lostKey{b.Series.Process, b.Series.Kind}] += int64(b.Len())
		return
	}
	if b.Series != t.series {
		t.Finish()
		t.series, t.Measure = b.Series, b.Series.Counter
	}
	for i, stack := range b.Stack {
		t.reach(b.Time[i])
		total := t.total(stack, t.who(b, i))
		switch kind {
		case stream.Allocations:
			total.addHeap(b.Value[i], b.Number[i])
		case stream.Waits:
			total.Wall = Plus(total.Wall, b.Value[i])
		case stream.Measurements:
			total.Value = Sum(total.Value, b.Value[i])
		default:
			t.add(total, b.Weight[i], b.CPU[i])
		}
	}
}

// takes says whether the output has a place for a kind.
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

// reach gives out the bucket that ends before a sample.
func (t *Totals) reach(at stream.Time) {
	if t.Every <= 0 || at >= t.At && uint64(at)-uint64(t.At) < uint64(t.Every) {
		return
	}
	t.Finish()
	t.At = at - (at%t.Every+t.Every)%t.Every
}

func (t *Totals) see(first, last stream.Time) {
	if t.Rows == 0 {
		t.First, t.Last = first, last
	}
	t.First, t.Last = min(t.First, first), max(t.Last, last)
}

// who is by whom the sums are.
func (t *Totals) who(b *stream.Batch, i int) (w stream.Who) {
	if t.ByWho {
		w = b.Who(i)
		w.Thread = 0
	}
	return w
}

// total is where a sample counts.
func (t *Totals) total(stack stream.StackID, who stream.Who) *Total {
	if first := t.at[stack]; first != 0 && t.totals[first-1].Who == who {
		return &t.totals[first-1]
	} else if first != 0 {
		return t.other(other{stack, who})
	}
	t.totals = append(t.totals, Total{Stack: stack, Who: who})
	t.at[stack] = int32(len(t.totals))
	return &t.totals[len(t.totals)-1]
}

// other is a total of a stack that has one of somebody else.
func (t *Totals) other(o other) *Total {
	at, ok := t.others[o]
	if !ok && len(t.others) == maxOthers {
		t.Finish()
		return t.total(o.stack, o.who)
	}
	if !ok {
		at = int32(len(t.totals))
		t.totals = append(t.totals, Total{Stack: o.stack, Who: o.who})
		t.others[o] = at
	}
	return &t.totals[at]
}

func (t *Total) addHeap(bytes, objects int64) {
	if bytes < 0 {
		t.Freed.add(-bytes, objects)
	} else {
		t.Allocated.add(bytes, objects)
	}
}

func (t *Totals) add(total *Total, weight, cpu int64) {
	total.Weight = Plus(total.Weight, weight)
	total.CPU = Plus(total.CPU, cpu)
	if cpu < 0 {
		t.Unknown = Plus(t.Unknown, weight)
	}
}

// Plus adds what is not negative to a sum, which stops at the largest number.
func Plus(sum, n int64) int64 {
	if n <= 0 {
		return sum
	}
	if sum > math.MaxInt64-n {
		return math.MaxInt64
	}
	return sum + n
}

// Sum adds what may be negative to a sum, which stops at the largest number and
// the smallest.
func Sum(sum, n int64) int64 {
	switch {
	case n > 0 && sum > math.MaxInt64-n:
		return math.MaxInt64
	case n < 0 && sum < math.MinInt64-n:
		return math.MinInt64
	}
	return sum + n
}

// Finish gives out what is not yet given out: after the last segment.
func (t *Totals) Finish() {
	if len(t.totals) == 0 {
		return
	}
	t.done(t.series.Process, t.series.Track, t.totals)
	for _, total := range t.totals {
		t.at[total.Stack] = 0
	}
	t.totals = t.totals[:0]
	clear(t.others)
}

// Tell adds to the ledger of the tables the rows that have no place.
func (t *Totals) Tell() {
	for key, rows := range t.lost {
		t.tables.Ledger.Add(stream.Line{Process: Instance(t.tables.Process(key.process)), Reason: stream.ReasonNoPlace, What: key.kind.String(), Count: rows})
	}
}

// Instance names a process as ledgers do.
func Instance(p *stream.Process) string { return fmt.Sprintf("%016x", p.Instance) }
