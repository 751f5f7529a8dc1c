package stream

import (
	"fmt"
	"math"
	"slices"

	"gprof/stream/internal/pack"
)

// adder adds rows to a Sorter. There may be several, each on a goroutine of its own: what takes
// long, sorting and encoding, needs nothing of the Sorter.
type adder struct {
	to      *Sorter
	encoder pack.Encoder
	blocks  []byte // encoded, one after the other
	ends    []int  // of each in blocks
	order   batchSorter
}

// add takes the rows of b, which it may reorder.
func (a *adder) add(b *Batch) error {
	if err := b.Check(); err != nil || b.Len() == 0 {
		return err
	}
	r, err := a.to.announce(b)
	if r == nil || err != nil {
		return err
	}
	if b.tangled() {
		a.order.sort(b)
	}
	for from := 0; from < b.Len(); {
		to := b.ascent(from)
		if err := a.append(r, b, from, to); err != nil {
			return err
		}
		from = to
	}
	return a.to.bound()
}

// append adds the rows from to to-1 of b, which are in order, to a run of r.
func (a *adder) append(r *seriesRuns, b *Batch, from, to int) error {
	first, last := b.key(from), b.key(to-1)
	a.blocks, a.ends = a.blocks[:0], a.ends[:0]
	for begin := 0; from < to; begin = len(a.blocks) {
		n := blockLen(b, from, to)
		a.blocks = appendBlock(a.blocks, &a.encoder, b, from, from+n)
		if len(a.blocks)-begin > math.MaxInt32 {
			return fmt.Errorf("%w: a row of %v has %d bytes of arguments", ErrBatch, b.Series.Kind, len(a.blocks)-begin)
		}
		a.ends = append(a.ends, len(a.blocks))
		from += n
	}
	s := a.to
	s.mu.Lock()
	defer s.mu.Unlock()
	run, begin := s.runFor(r, first, last), 0
	for _, end := range a.ends {
		s.store.Append(run, a.blocks[begin:end])
		begin = end
	}
	return nil
}

// announce notes what of the tables the rows of b refer to. It returns their series, or nil if it
// has summed them up.
func (s *Sorter) announce(b *Batch) (*seriesRuns, error) {
	timed := slices.ContainsFunc(b.CPU, func(ns int64) bool { return ns > 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.markStacks(b.Stack); err != nil {
		return nil, err
	}
	if err := s.markLabels(b.Labels); err != nil {
		return nil, err
	}
	r := s.runsOf(b)
	if len(b.Args) != r.args {
		return nil, fmt.Errorf("%w: %d arguments, want %d as before", ErrBatch, len(b.Args), r.args)
	}
	s.total += int64(b.Len())
	if len(b.Goroutine) > 0 {
		s.goroutines |= 1 << b.Series.Kind
	}
	s.cpu = s.cpu || timed
	if s.summing.of != nil {
		if r.tally.add(tally(b)); s.summing.take(b) {
			return nil, nil
		}
	}
	s.kept += int64(b.Len())
	return r, nil
}

// bound spills what is in memory if that is too much.
func (s *Sorter) bound() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store.Used() > s.memory {
		return s.spill()
	}
	return nil
}
