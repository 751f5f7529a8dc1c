package facts

import (
	"unsafe"

	"gprof/stream"
)

// Stacks adds up values by stack and step.
type Stacks struct {
	Rows    []StackRow // in the order in which stacks came first
	Covered Series     // seconds of each step that are known
	Waits   bool       // they are of waits

	at []int32 // by StackID: 1 and where it is in Rows
}

// StackRow is what one stack adds up to.
type StackRow struct {
	Stack stream.StackID
	Steps Steps32
}

// Steps32 is a Series that takes half of the memory.
type Steps32 [Steps + 1]float32

// stackBytes is the memory for each stack of the tables: a stack is in one of the four, as a rule.
const stackBytes = 4*int64(unsafe.Sizeof(int32(0))) + int64(unsafe.Sizeof(StackRow{}))

func newStacks(t *stream.Tables) *Stacks { return &Stacks{at: make([]int32, t.Stacks.Len()+1)} }

// add adds to a step of a stack.
func (s *Stacks) add(stack stream.StackID, step int, v float64) {
	if s.at[stack] == 0 {
		s.Rows = append(s.Rows, StackRow{Stack: stack})
		s.at[stack] = int32(len(s.Rows))
	}
	s.Rows[s.at[stack]-1].Steps[step] += float32(v)
}

// spread divides a value among steps.
func (s *Stacks) spread(l Timeline, stack stream.StackID, from, to stream.Time, v float64) {
	first, last := l.At(from), l.At(to)
	if first == last {
		s.add(stack, last, v)
		return
	}
	var part Series
	l.spread(&part, from, to, v)
	for step := first; step <= last; step++ {
		if part[step] > 0 {
			s.add(stack, step, part[step])
		}
	}
}

// reset empties s, keeping its memory. All of a timeline counts as covered.
func (s *Stacks) reset(l Timeline) {
	for step := range s.Covered {
		s.Covered[step] = l.Length(step)
	}
	for i := range s.Rows {
		s.at[s.Rows[i].Stack] = 0
	}
	s.Rows = s.Rows[:0]
}

// Sum is the sum of all stacks that fit.
func (s *Stacks) Sum(fits func(stream.StackID) bool) (sum Series) {
	for i := range s.Rows {
		if fits == nil || fits(s.Rows[i].Stack) {
			for step, v := range s.Rows[i].Steps {
				sum[step] += float64(v)
			}
		}
	}
	return sum
}

// Rates is what some sums of stacks have in a second of each step, and which steps are known.
func (s *Stacks) Rates(sums *Series) (rates *Series, known *[Steps + 1]bool) {
	rates, known = new(Series), new([Steps + 1]bool)
	for step, v := range sums {
		if s.Covered[step] > 0 {
			rates[step], known[step] = v/s.Covered[step], true
		}
	}
	return rates, known
}

// Around is what some sums of stacks have in a second before and from a step on.
func (s *Stacks) Around(sums *Series, at int) (before, after float64) {
	return ratio(sums.Sum(0, at), s.Covered.Sum(0, at)), ratio(sums.Sum(at, len(sums)), s.Covered.Sum(at, len(sums)))
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Part are the stacks that fit.
func (s *Stacks) Part(fits func(stream.StackID) bool) *Stacks {
	part := &Stacks{Covered: s.Covered, Waits: s.Waits}
	for i := range s.Rows {
		if fits(s.Rows[i].Stack) {
			part.Rows = append(part.Rows, s.Rows[i])
		}
	}
	return part
}
