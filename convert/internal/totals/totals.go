// Package totals sums up CPU and heap samples by track and stack, for formats that keep sums rather
// than moments, and counts what such a format has no place for.
package totals

import (
	"iter"
	"math"
	"slices"

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

	Value int64 // of Totals.Measure; below 0 in a difference
}

// Zero reports whether all values are 0.
func (t *Total) Zero() bool { return *t == Total{Stack: t.Stack, Owner: t.Owner} }

// Memory is objects of the heap.
type Memory struct{ Objects, Bytes int64 }

// add adds the non-negative parts of a row of allocations.
func (m *Memory) add(bytes, objects int64) {
	m.Objects, m.Bytes = Plus(m.Objects, objects), Plus(m.Bytes, bytes)
}

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
	// Measure is the measure of the delivered totals; 0 if they are no measurements.
	Measure stream.CounterID
	Kind    stream.Kind // of the rows that were added up
	At      stream.Time // beginning of the delivered bucket

	// ByWho makes sums of each goroutine and label set. Goroutines may be as many as samples, so a
	// track is then delivered in several parts, which may overlap. Set it before the first Add.
	ByWho bool
	// Spans makes them also of each span of a trace. Set it before the first Add.
	Spans bool

	// Parts allows a track to be delivered in several parts that overlap, so that no more than maxPart totals are
	// held. Set it before the first Add.
	Parts bool

	// OwnClocks makes Span tell times by each process' own clock: on the time line of the run they
	// depend on the other processes. Set it before the first Add.
	OwnClocks bool

	tables *stream.Tables
	done   func(process stream.ProcessID, track stream.TrackID, totals Pages)
	series stream.Series // being summed up
	pages  Pages
	at     []int32            // by StackID: 1 + its first index in pages, 0 none
	others map[otherKey]int32 // where further ones are
	lost   stream.Ledger

	dated       bool // first and last are known
	first, last stream.Time
	undated     stream.Time // the longest duration of what has no time
}

// otherKey identifies further totals of a stack.
type otherKey struct {
	stack stream.StackID
	who   stream.Owner
}

// maxOthers bounds them, and maxPart all of a part.
const (
	maxOthers = 1 << 16
	maxPart   = 1 << 14
)

// Pages is totals, pageRows in each page but the last. So many can't be one slice: to copy it when it
// grows takes long, and while that is done on one core the collector of garbage waits on another.
type Pages [][]Total

const (
	pageBits = 10
	pageRows = 1 << pageBits
)

// All is the totals in order.
func (p Pages) All() iter.Seq[*Total] {
	return func(yield func(*Total) bool) {
		for _, page := range p {
			for i := range page {
				if !yield(&page[i]) {
					return
				}
			}
		}
	}
}

func (p Pages) at(i int32) *Total { return &p[i>>pageBits][i&(pageRows-1)] }

func (p Pages) len() int {
	last := len(p) - 1
	if last < 0 {
		return 0
	}
	return last<<pageBits + len(p[last])
}

// push adds a total, and returns its index.
func (p *Pages) push(t Total) int32 {
	last := len(*p) - 1
	if last < 0 || len((*p)[last]) == pageRows {
		last++
		*p = slices.Grow(*p, 1)[:last+1]
		(*p)[last] = (*p)[last][:0] // one that was used before, or none
	}
	(*p)[last] = append((*p)[last], t)
	return int32(p.len() - 1)
}

// New returns the Totals of an output of t. done is called for each track with samples, or each
// bucket of one, in the order of segments; its totals are in the order of first use of stacks, and
// valid until it returns.
func New(t *stream.Tables, done func(process stream.ProcessID, track stream.TrackID, totals Pages)) *Totals {
	return &Totals{tables: t, done: done, at: make([]int32, t.Stacks.Len()+1), others: make(map[otherKey]int32)}
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
		t.Finish()
		t.series, t.Measure, t.Kind = b.Series, b.Series.Counter, kind
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
	if t.Every <= 0 || at >= t.At && uint64(at)-uint64(t.At) < uint64(t.Every) {
		return
	}
	t.Finish()
	t.At = at - (at%t.Every+t.Every)%t.Every
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

// who is by whom the sums are.
func (t *Totals) who(b *stream.Batch, i int) (w stream.Owner) {
	if t.ByWho {
		w = b.Owner(i)
		w.Thread = 0
		if !t.Spans {
			w.Span = stream.Span{}
		}
	}
	return w
}

// total is where a sample counts.
func (t *Totals) total(stack stream.StackID, who stream.Owner) *Total {
	first := t.at[stack]
	if first == 0 {
		if t.Parts && t.pages.len() >= maxPart {
			t.Finish()
		}
		first = 1 + t.pages.push(Total{Stack: stack, Owner: who})
		t.at[stack] = first
	}
	if total := t.pages.at(first - 1); total.Owner == who {
		return total
	}
	return t.other(otherKey{stack, who})
}

// other is a further total of a stack, of another owner.
func (t *Totals) other(o otherKey) *Total {
	at, ok := t.others[o]
	if !ok && len(t.others) == maxOthers {
		t.Finish()
		return t.total(o.stack, o.who)
	}
	if !ok {
		at = t.pages.push(Total{Stack: o.stack, Owner: o.who})
		t.others[o] = at
	}
	return t.pages.at(at)
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

// Finish gives out what is not yet given out: after the last segment.
func (t *Totals) Finish() {
	if len(t.pages) == 0 {
		return
	}
	t.done(t.series.Process, t.series.Track, t.pages)
	for total := range t.pages.All() {
		t.at[total.Stack] = 0
	}
	t.pages = t.pages[:0]
	clear(t.others)
}

// Lose counts something of a process that the output has no place for.
func (t *Totals) Lose(process stream.ProcessID, what string, count int64) {
	t.lost.Add(stream.Line{Process: t.tables.Process(process).InstanceName(), Reason: stream.ReasonNoPlace, What: what, Count: count})
}

// Tell adds rows without a place to the ledger of the tables.
func (t *Totals) Tell() {
	for _, line := range t.lost.Lines() {
		t.tables.Ledger.Add(line)
	}
}
