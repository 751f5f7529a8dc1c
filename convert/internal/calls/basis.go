package calls

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gprof/stream"
)

// Basis is what is summed up at stacks: one of these, or the name of a measure of a profile that was not made by us.
type Basis string

const (
	CPU         Basis = "cpu"         // CPU time, of samples that have it
	Samples     Basis = "samples"     // the number of those that have none: time on the wall
	Heap        Basis = "heap"        // bytes in use at the end
	Allocations Basis = "allocations" // bytes allocated meanwhile
	Waits       Basis = "waits"       // time that goroutines waited
)

// Bases are all there are, measures aside.
func Bases() []string {
	return []string{string(CPU), string(Samples), string(Heap), string(Allocations), string(Waits)}
}

// Valued reports whether it is of rows that are no samples: an [Amount] of them has their value, in ns, bytes or the
// unit of a measure, in place of CPU time.
func (b Basis) Valued() bool { return b != "" && b != CPU && b != Samples }

// IsMeasure reports whether it is the name of a measure.
func (b Basis) IsMeasure() bool { return b != "" && !slices.Contains(Bases(), string(b)) }

// Default is what to sum up of t if nobody says: all samples, which is "". Of pprof's profiles without any it is what
// there is, first of all what a profile itself wants to be shown.
func Default(t *stream.Tables) Basis {
	if t.Has(stream.Samples) || !OnlyProfiles(t) {
		return ""
	}
	measures := Measures(t)
	for i := range t.Processes {
		switch wanted := t.Processes[i].Profile.Default; {
		case slices.Contains(measures, wanted):
			return Basis(wanted)
		case wanted == "alloc_space" && t.Has(stream.Allocations):
			return Allocations
		}
	}
	switch {
	case t.Has(stream.Waits):
		return Waits
	case t.Has(stream.Allocations):
		return Heap
	case len(measures) > 0:
		return Basis(measures[len(measures)-1]) // as go tool pprof does
	}
	return ""
}

// OnlyProfiles reports whether all processes of t come from pprof's profiles.
func OnlyProfiles(t *stream.Tables) bool {
	return !slices.ContainsFunc(t.Processes, func(p stream.Process) bool { return len(p.Profile.Types) == 0 })
}

// Measures are the names of the measures of t, in the order of the profiles that they come from. One that is called as
// a Basis is can't be told from it.
func Measures(t *stream.Tables) (names []string) {
	if !t.Has(stream.Measurements) {
		return nil
	}
	for id := 1; id <= t.Counters.Len(); id++ {
		if c := t.Counters.At(stream.CounterID(id)); c.Measure && !slices.Contains(names, c.Name) && !slices.Contains(Bases(), c.Name) {
			names = append(names, c.Name)
		}
	}
	place := func(name string) int {
		for i := range t.Processes {
			if at := slices.IndexFunc(t.Processes[i].Profile.Types, func(v stream.ValueType) bool { return v.Name == name }); at >= 0 {
				return at
			}
		}
		return len(names)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	return names
}

// MeasureError is the error of a measure that a run does not have.
type MeasureError struct {
	Name string
	Has  []string // what it can sum up instead
}

func (e *MeasureError) Error() string {
	return fmt.Sprintf("there is no %q to sum up; want one of %s", e.Name, strings.Join(e.Has, ", "))
}

// Meter gives what counts by a Basis: rows of samples with or without CPU time, by which Basis is "".
type Meter struct {
	Of   Basis
	Give func(at Place, a Amount)

	// Unit is that of a measure, known after Begin: "bytes", "ns", another that the profile names, or "" of a number.
	Unit string

	heap     Place   // of the process whose allocations are in inUse: the last ones
	inUse    []int64 // bytes by StackID, of Heap
	measures []match // by CounterID
	other    int64   // measurements in other units
	below    int64   // measurements below 0
}

// match says whether a measure is the one that is summed up.
type match uint8

const (
	otherName match = iota
	otherUnit
	matches
)

// Place is what an amount is of. What is in use has the time at which the heap was last read.
type Place struct {
	Series stream.Series
	Stack  stream.StackID
	Time   stream.Time
}

// Begin prepares for the stacks of t. The error is a [stream.ErrMemory] or a *[MeasureError].
func (m *Meter) Begin(t *stream.Tables) error {
	if m.Of.IsMeasure() {
		return m.find(t)
	}
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

// find finds the measure. Of several units the first one counts.
func (m *Meter) find(t *stream.Tables) error {
	m.measures = make([]match, t.Counters.Len()+1)
	found := false
	for id := range m.measures[1:] {
		c := t.Counters.At(stream.CounterID(id + 1))
		if !c.Measure || c.Name != string(m.Of) {
			continue
		}
		unit := cmp.Or(c.Unit.Unit(), c.Description)
		if unit == "count" {
			unit = ""
		}
		if !found {
			found, m.Unit = true, unit
		}
		m.measures[id+1] = otherUnit
		if unit == m.Unit {
			m.measures[id+1] = matches
		}
	}
	if found {
		return nil
	}
	return &MeasureError{string(m.Of), append(Measures(t), Bases()...)}
}

func (m *Meter) measured(b *stream.Batch) {
	switch m.measures[b.Series.Counter] {
	case matches:
		for i, v := range b.Value {
			if v < 0 {
				m.below++
			} else if v > 0 {
				m.Give(placeOf(b, i), Valued(v, 1))
			}
		}
	case otherUnit:
		m.other += int64(b.Len())
	}
}

// Tell adds to a ledger which measurements were left out.
func (m *Meter) Tell(l *stream.Ledger) {
	for _, left := range []struct {
		where string
		rows  int64
	}{{"of the same name in another unit", m.other}, {"below 0, as in differences", m.below}} {
		if left.rows > 0 {
			l.Add(stream.Line{Reason: stream.ReasonNoPlace, What: "measurements", Where: left.where, Count: left.rows})
		}
	}
}

// Counts reports whether rows of a series may count.
func (m *Meter) Counts(s stream.Series) bool {
	switch s.Kind {
	case stream.Samples:
		return !m.Of.Valued()
	case stream.Waits:
		return m.Of == Waits
	case stream.Allocations:
		return m.Of == Heap || m.Of == Allocations
	case stream.Measurements:
		return m.measures != nil && m.measures[s.Counter] != otherName
	}
	return false
}

// Add takes a segment of any kind. What is in use is known at the end of a process alone.
func (m *Meter) Add(b *stream.Batch) {
	switch kind := b.Series.Kind; {
	case kind == stream.Samples && !m.Of.Valued():
		m.samples(b)
	case kind == stream.Measurements && m.measures != nil:
		m.measured(b)
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
	case k == stream.Waits && m.Of == Waits, k == stream.Allocations && (m.Of == Heap || m.Of == Allocations), k == stream.Measurements && m.Of.IsMeasure():
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
