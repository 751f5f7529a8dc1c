package stream

import (
	"fmt"
	"math"
	"slices"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
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
	r, others, err := a.to.announce(b)
	if r == nil || err != nil {
		return err
	}
	if others && b.Len() < looseRows {
		return a.append(r, b, stretch{0, b.Len(), b.ascent(0) < b.Len()})
	}
	if b.tangled() {
		a.order.sort(b)
	}
	for from := 0; from < b.Len(); {
		to := b.ascent(from)
		if err := a.append(r, b, stretch{from: from, to: to}); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// stretch is the rows from from to to-1 of a batch. They are in order, unless they are loose.
type stretch struct {
	from, to int
	loose    bool
}

// append adds rows of b to a run of r, or to its loose rows. It spills what is in memory if that is too much then.
func (a *adder) append(r *seriesRuns, b *Batch, of stretch) error {
	a.blocks, a.ends = a.blocks[:0], a.ends[:0]
	for from, begin := of.from, 0; from < of.to; begin = len(a.blocks) {
		n := blockLen(b, from, of.to)
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
	r.size.add(of.to-of.from, len(a.blocks))
	run, begin := s.place(r, b, of), 0
	for _, end := range a.ends {
		s.store.Append(run, a.blocks[begin:end])
		begin = end
	}
	if s.store.Used() > s.memory {
		return s.spill()
	}
	return nil
}

// place is where rows of b go. A short batch that follows no run begins none; so do those that come after it, which would
// make parts of the same rows.
func (s *Sorter) place(r *seriesRuns, b *Batch, of stretch) *runs.Run {
	first, last := b.key(of.from), b.key(of.to-1)
	if b.Len() >= looseRows || !r.others() || !of.loose && len(r.loose) == 0 && r.before(first) != nil {
		return s.runFor(r, first, last)
	}
	if len(r.loose) == 0 {
		r.loose = []runs.Run{{Unordered: true}}
		s.store.CountRun()
	}
	return &r.loose[0]
}

// announce notes what of the tables the rows of b refer to. It returns their series, or nil if it
// has summed them up, and whether the series has other rows.
func (s *Sorter) announce(b *Batch) (of *seriesRuns, others bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.markStacks(b.Stack); err != nil {
		return nil, false, err
	}
	if err := s.markLabels(b.Labels); err != nil {
		return nil, false, err
	}
	r := s.runsOf(b)
	if len(b.Args) != r.args {
		return nil, false, fmt.Errorf("%w: %d arguments, want %d as before", ErrBatch, len(b.Args), r.args)
	}
	s.total += int64(b.Len())
	if len(b.Goroutine) > 0 {
		s.goroutines |= 1 << b.Series.Kind
	}
	s.cpu = s.cpu || slices.ContainsFunc(b.CPU, func(ns int64) bool { return ns > 0 })
	if s.summing.of != nil {
		if r.tally.add(tally(b)); s.summing.take(b) {
			return nil, false, nil
		}
	}
	s.kept += int64(b.Len())
	return r, r.others(), nil
}
