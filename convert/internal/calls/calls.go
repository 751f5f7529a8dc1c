// Package calls sums up samples along their stacks: what each function took by
// itself, and with all that it called. One that is in a stack several times, as
// in a recursion, has a sample once.
//
// What counts as a function is the caller's choice: any key of a frame will do,
// such as its package or its line.
package calls

import (
	"math"
	"slices"
	"unsafe"

	"gprof/stream"
)

// Amount is what some samples add up to. Sums stop at the largest number.
type Amount struct {
	Samples int64 // by weight
	Timed   int64 // of Samples, those whose CPU time is known
	CPU     int64 // ns, of Timed
}

// Add adds o.
func (a *Amount) Add(o Amount) {
	a.Samples, a.Timed, a.CPU = plus(a.Samples, o.Samples), plus(a.Timed, o.Timed), plus(a.CPU, o.CPU)
}

// AddRows adds samples.
func (a *Amount) AddRows(b *stream.Batch) {
	for i, weight := range b.Weight {
		a.Add(of(weight, b.CPU[i]))
	}
}

// plus adds two numbers that are not negative.
func plus(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// of is the amount of one row.
func of(weight, cpu int64) Amount {
	a := Amount{Samples: max(0, weight)}
	if cpu >= 0 {
		a.Timed, a.CPU = a.Samples, cpu
	}
	return a
}

// Key is what frames are summed up by; 0 is that of a sample without a stack.
type Key int32

// Sum is what one key adds up to.
type Sum struct {
	Key   Key
	Self  Amount // of samples whose innermost frame has the key
	Total Amount // of samples of which any frame has it
}

// Sums adds up samples, stack by stack. It takes 54 bytes for each stack of the
// tables, whatever the number of samples.
type Sums struct {
	All Amount // of what was added since Take

	tables *stream.Tables
	keys   []Key  // by FrameID
	outer  []bool // by StackID: no caller has the same key
	self   []Amount
	called []Amount // by StackID, of the stacks below it
	seen   []bool   // by StackID: it or what it called has samples
	stacks []stream.StackID
	sums   []Sum   // scratch
	at     []int32 // by Key: 1 and where it is in sums
}

// sumBytes is what Sums take for each stack.
const sumBytes = 2*int64(unsafe.Sizeof(Amount{})) + 2 + 4

// New returns Sums of the samples of an output of t. keys are those of frames,
// by FrameID; the one of no frame is not looked at. The error is an [stream.ErrMemory].
func New(t *stream.Tables, keys []Key) (*Sums, error) {
	if err := t.ReserveStacks(sumBytes); err != nil {
		return nil, err
	}
	n := t.Stacks.Len() + 1
	s := &Sums{tables: t, keys: slices.Clone(keys), self: make([]Amount, n), called: make([]Amount, n), seen: make([]bool, n)}
	s.keys[0] = 0
	s.at = make([]int32, slices.Max(s.keys)+1)
	s.findOuter()
	return s, nil
}

// key is that of a stack's innermost frame.
func (s *Sums) key(id stream.StackID) Key {
	if id == 0 {
		return 0
	}
	_, frame := s.tables.Stacks.At(id)
	return s.keys[frame]
}

// Add takes a segment of samples.
func (s *Sums) Add(b *stream.Batch) {
	for i, stack := range b.Stack {
		a := of(b.Weight[i], b.CPU[i])
		s.All.Add(a)
		s.self[stack].Add(a)
		s.see(stack)
	}
}

// see lists a stack and its callers.
func (s *Sums) see(id stream.StackID) {
	for !s.seen[id] {
		s.seen[id] = true
		s.stacks = append(s.stacks, id)
		if id != 0 {
			id, _ = s.tables.Stacks.At(id)
		}
		if id == 0 {
			return
		}
	}
}

// Take returns the sums of what was added, by key, and begins anew. They are
// valid until the next Take.
func (s *Sums) Take() []Sum {
	s.sums = s.sums[:0]
	slices.Sort(s.stacks)
	for _, id := range slices.Backward(s.stacks) { // what is called comes first
		s.give(id)
	}
	for _, sum := range s.sums {
		s.at[sum.Key] = 0
	}
	s.stacks, s.All = s.stacks[:0], Amount{}
	slices.SortFunc(s.sums, func(a, b Sum) int { return int(a.Key) - int(b.Key) })
	return s.sums
}

// give gives what a stack and all that it called took to its key and to its
// caller.
func (s *Sums) give(id stream.StackID) {
	self, total := s.self[id], s.called[id]
	total.Add(self)
	sum := s.sum(s.key(id))
	sum.Self.Add(self)
	if s.outer[id] {
		sum.Total.Add(total)
	}
	if id != 0 {
		if caller, _ := s.tables.Stacks.At(id); caller != 0 {
			s.called[caller].Add(total)
		}
	}
	s.self[id], s.called[id], s.seen[id] = Amount{}, Amount{}, false
}

func (s *Sums) sum(key Key) *Sum {
	if s.at[key] == 0 {
		s.sums = append(s.sums, Sum{Key: key})
		s.at[key] = int32(len(s.sums))
	}
	return &s.sums[s.at[key]-1]
}
