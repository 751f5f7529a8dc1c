package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gprof/convert/internal/calls"
)

// Basis is what is compared at stacks.
type Basis calls.Basis

const (
	CPU         = Basis(calls.CPU)         // CPU time, of samples that have it
	Samples     = Basis(calls.Samples)     // the number of those that have none: time on the wall
	Heap        = Basis(calls.Heap)        // bytes in use at the end, of one process
	Allocations = Basis(calls.Allocations) // bytes allocated meanwhile
	Waits       = Basis(calls.Waits)       // time that goroutines waited
)

// Bases are all there are.
func Bases() []string { return calls.Bases() }

// valued reports whether it is of rows that are no samples, for which a [Sink] has to be made.
func (b Basis) valued() bool { return calls.Basis(b).Valued() }

// ErrBasis is the error of sets without a common kind of samples.
var ErrBasis = errors.New("CPU time is compared with CPU time alone, and so is all else")

// basis is a Basis and its unit.
type basis struct {
	Basis
	seconds bool // seconds rather than samples, whose intervals may differ
	exact   bool // the system has counted the CPU time of each process
}

// value is what counts of an amount of a process: seconds, samples or bytes. Of rows that are no
// samples the value is where the CPU time is of others.
func (b basis) value(p *process, a calls.Amount) float64 {
	switch {
	case b.Basis == Heap || b.Basis == Allocations:
		return float64(a.CPU)
	case b.Basis == CPU || b.Basis == Waits:
		return float64(a.CPU) / 1e9
	case b.seconds:
		return b.counted(a) * p.interval
	}
	return b.counted(a)
}

// timed reports whether all samples of that kind stand for a known time.
func (b Basis) timed(sets ...*Set) bool {
	for _, s := range sets {
		for _, p := range s.processes {
			if p.interval <= 0 && b.counted(p.all) > 0 {
				return false
			}
		}
	}
	return true
}

// counted reports whether the system's count of the CPU time of each process is known.
func counted(sets ...*Set) bool {
	for _, s := range sets {
		if slices.ContainsFunc(s.processes, func(p process) bool { return p.cpu <= 0 }) {
			return false
		}
	}
	return true
}

// in reports whether a set has such samples.
func (b Basis) in(s *Set) bool {
	return slices.ContainsFunc(s.processes, func(p process) bool { return b.taken(p.all) > 0 })
}

// taken is how many samples of an amount are compared.
func (b Basis) taken(a calls.Amount) float64 {
	if b == Samples {
		return float64(a.Samples - a.Timed)
	}
	return float64(a.Timed)
}

// counted is how many independent samples an amount is of; 0 if that is not known.
func (b Basis) counted(a calls.Amount) float64 {
	if b.valued() {
		return 0
	}
	return b.taken(a)
}

// choose picks the kind of samples. Sets of which each lacks the other's kind cannot be compared.
func (r *Report) choose(base, new *Set) error {
	if of := base.of; of.valued() || new.of.valued() {
		if r.Basis = of; new.of != of {
			return fmt.Errorf("%w: one set is of %s, the other of %s", ErrBasis, cmp.Or(of, CPU), cmp.Or(new.of, CPU))
		}
		return nil
	}
	if r.Basis == "" {
		r.Basis = CPU
		if Samples.in(base) && Samples.in(new) && !(CPU.in(base) && CPU.in(new)) {
			r.Basis = Samples
		}
	}
	other := CPU
	if r.Basis == CPU {
		other = Samples
	}
	for _, s := range []*Set{base, new} {
		if !r.Basis.in(s) && other.in(s) {
			return fmt.Errorf("%w: samples have CPU time in one set and not in the other; record both in the same way", ErrBasis)
		}
	}
	return nil
}
