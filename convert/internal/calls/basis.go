package calls

import "gprof/stream"

// Basis is what is summed up at stacks.
type Basis string

const (
	CPU         Basis = "cpu"         // CPU time, of samples that have it
	Samples     Basis = "samples"     // the number of those that have none: time on the wall
	Heap        Basis = "heap"        // bytes in use at the end
	Allocations Basis = "allocations" // bytes allocated meanwhile
	Waits       Basis = "waits"       // time that goroutines waited
)

// Bases are all there are.
func Bases() []string {
	return []string{string(CPU), string(Samples), string(Heap), string(Allocations), string(Waits)}
}

// Valued reports whether it is of rows that are no samples: an [Amount] of them has their value, ns or
// bytes, in place of CPU time.
func (b Basis) Valued() bool { return b == Heap || b == Allocations || b == Waits }

// Meter gives what counts by a Basis: rows of samples with or without CPU time, by which Basis is "".
type Meter struct {
	Of   Basis
	Give func(at Place, a Amount)

	heap  Place   // of the process whose allocations are in inUse: the last ones
	inUse []int64 // bytes by StackID, of Heap
}

// Place is what an amount is of. What is in use has the time at which the heap was last read.
type Place struct {
	Series stream.Series
	Stack  stream.StackID
	Time   stream.Time
}

// Begin prepares for the stacks of t. The error is a [stream.ErrMemory].
func (m *Meter) Begin(t *stream.Tables) error {
	if m.Of != Heap {
		return nil
	}
	n := t.Stacks.Len() + 1
	err := t.Reserve(8 * int64(n))
	if err == nil {
		m.inUse = make([]int64, n)
	}
	return err
}

// Add takes a segment of any kind. What is in use is known at the end of a process alone.
func (m *Meter) Add(b *stream.Batch) {
	switch kind := b.Series.Kind; {
	case kind == stream.Samples && !m.Of.Valued():
		m.samples(b)
	case kind == stream.Waits && m.Of == Waits:
		for i, v := range b.Value {
			m.Give(placeOf(b, i), Valued(v, b.Number[i]))
		}
	case kind == stream.Allocations && m.Of == Allocations:
		for i, v := range b.Value {
			if v > 0 && b.Phase[i] != stream.PhaseStart {
				m.Give(placeOf(b, i), Valued(v, b.Number[i]))
			}
		}
	case kind == stream.Allocations && m.Of == Heap:
		if b.Series.Process != m.heap.Series.Process {
			m.End()
		}
		for i, v := range b.Value {
			m.inUse[b.Stack[i]] += v
			m.heap = placeOf(b, i)
		}
	}
}

func (m *Meter) samples(b *stream.Batch) {
	for i := range b.Stack {
		a := of(b.Weight[i], b.CPU[i])
		if known := a.Timed > 0; m.Of == "" || known == (m.Of == CPU) {
			m.Give(placeOf(b, i), a)
		}
	}
}

// Needs is how it needs rows of a kind if Give is only asked where stacks are.
func (m *Meter) Needs(k stream.Kind) stream.Need {
	switch {
	case k == stream.Samples && !m.Of.Valued():
		return stream.NeedsStacks
	case k == stream.Waits && m.Of == Waits, k == stream.Allocations && (m.Of == Heap || m.Of == Allocations):
		return stream.NeedsRows
	}
	return stream.NeedsTally
}

// Sums takes what samples of all processes add up to.
func (m *Meter) Sums(s *stream.Sums) {
	if m.Of.Valued() {
		return
	}
	for i := range s.Stacks {
		sum := &s.Stacks[i]
		a := Amount{sum.Samples, sum.Timed, sum.CPU}
		switch m.Of {
		case CPU:
			a.Samples = a.Timed
		case Samples:
			a = Amount{Samples: a.Samples - a.Timed}
		}
		if a.Samples > 0 {
			m.Give(Place{Stack: sum.Stack}, a)
		}
	}
}

func placeOf(b *stream.Batch, i int) Place { return Place{b.Series, b.Stack[i], b.Time[i]} }

// End gives what is in use at the end of the last process.
func (m *Meter) End() {
	for stack, v := range m.inUse {
		if m.inUse[stack] = 0; v > 0 {
			m.heap.Stack = stream.StackID(stack)
			m.Give(m.heap, Valued(v, 1))
		}
	}
}
