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
	blocks  []byte   // encoded, one after the other
	ends    []int    // of each in blocks
	waiting []packed // what the blocks are of
	order   batchSorter
	mixes   []*mix // of one shape each
	parts   mix    // of mixtures, where their rows stay: a piece begins with the number of a part, and has no end
	one     Batch  // of a mixture
	noted   Batch  // scratch

	// What rows there were: see Sorter.
	stacks, labels marks
	goroutines     uint16
	cpu            bool
}

// adder returns a new one.
func (s *Sorter) adder() *adder {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &adder{to: s}
	a.parts.shape = shape{kind: Samples, byRow: true}
	s.adders = append(s.adders, a)
	return a
}

// add takes the rows of b, which it may reorder.
func (a *adder) add(b *Batch) error {
	if err := b.Check(); err != nil || b.Len() == 0 {
		return err
	}
	args := 0
	if b.Len() < firstRows {
		args = b.allArgBytes(0, b.Len())
	}
	if err := a.note(b); err != nil {
		return err
	}
	known, err := a.to.announce(b, args)
	if known.of == nil || err != nil {
		return err
	}
	r := known.of
	switch {
	case known.mixed:
		return a.mix(r, b, args)
	case known.again && b.Len() < looseRows:
		return a.append(r, b, selection{to: b.Len()}, b.ascent(0) < b.Len())
	case b.tangled():
		a.order.find(b)
		return a.append(r, b, selection{to: b.Len(), order: a.order.order}, false)
	}
	for from := 0; from < b.Len(); {
		to := b.ascent(from)
		if err := a.append(r, b, selection{from: from, to: to}, false); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// packed is rows whose blocks wait to be stored.
type packed struct {
	of          *seriesRuns
	first, last runs.Key
	batch       int  // rows of the batch that they come from
	loose       bool // they are in no order
	ends        int  // in adder.ends: those of its blocks come before it
}

// maxWaiting is how many bytes of blocks wait at most while another adder spills rows, and waitingShare what part of the
// memory for rows.
const (
	maxWaiting   = 256 << 10
	waitingShare = 16
)

// append adds rows of b to a run of r, or to its loose rows. They are in order, unless they are loose.
func (a *adder) append(r *seriesRuns, b *Batch, of selection, loose bool) error {
	for left, begin := of, len(a.blocks); left.from < left.to; begin = len(a.blocks) {
		next := nextBlock(b, left)
		a.blocks = appendBlock(a.blocks, &a.encoder, b, next)
		if len(a.blocks)-begin > math.MaxInt32 {
			return fmt.Errorf("%w: a row of %v has %d bytes of arguments", ErrBatch, b.Series.Kind, len(a.blocks)-begin)
		}
		a.ends = append(a.ends, len(a.blocks))
		left.from = next.to
	}
	a.waiting = append(a.waiting, packed{r, b.key(of.row(of.from)), b.key(of.row(of.to - 1)), b.Len(), loose, len(a.ends)})
	return a.store(int64(len(a.blocks)) > min(maxWaiting, a.to.memory/waitingShare))
}

// store adds the blocks that wait to the runs of their series, unless another adder does so and they can wait. It spills what
// is in memory if that is too much then.
func (a *adder) store(must bool) error {
	s := a.to
	if must {
		s.storing.Lock()
	} else if !s.storing.TryLock() {
		return nil
	}
	defer s.storing.Unlock()
	next, begin := 0, 0
	for i := range a.waiting {
		p := &a.waiting[i]
		run := s.place(p)
		for ; next < p.ends; next++ {
			s.store.Append(run, a.blocks[begin:a.ends[next]])
			p.of.own.bytes += int64(a.ends[next] - begin)
			begin = a.ends[next]
		}
	}
	a.blocks, a.ends, a.waiting = a.blocks[:0], a.ends[:0], a.waiting[:0]
	if s.store.Used() > s.memory {
		return s.spill()
	}
	return nil
}

// place is where rows go. A short batch that follows no run begins none; so do those that come after it, which would make
// parts of the same rows.
func (s *Sorter) place(p *packed) *runs.Run {
	r := p.of.ownRuns()
	if !p.of.holds {
		p.of.holds, s.holding = true, append(s.holding, p.of)
	}
	if p.batch >= looseRows || !p.loose && len(r.loose) == 0 && (len(r.runs) == 0 || r.before(p.first) != nil) {
		return s.runFor(r, p.first, p.last)
	}
	if len(r.loose) == 0 {
		r.loose = []runs.Run{{Unordered: true}}
		s.store.CountRun()
	}
	return &r.loose[0]
}

// mix mixes the rows of b with others.
func (a *adder) mix(r *seriesRuns, b *Batch, args int) error {
	m := a.mixOf(shape{kind: b.Series.Kind, args: len(b.Args)})
	m.add(r.number, func(to *Batch) { to.AppendRows(b, 0, b.Len()) })
	if m.args += args; !m.full(a.to.memory / int64(len(a.mixes))) {
		return nil
	}
	return a.empty(m)
}

func (a *adder) mixOf(of shape) *mix {
	for _, m := range a.mixes {
		if m.shape == of {
			return m
		}
	}
	m := newMix(of)
	a.mixes = append(a.mixes, m)
	return m
}

// empty makes a run of a mix.
func (a *adder) empty(m *mix) error {
	if len(m.pieces) == 0 {
		return nil
	}
	run := a.to.beginMixed(m)
	err := m.encode(func(block []byte) error { return a.to.keep(run, block) })
	m.reset()
	return err
}

// known is what is known of a batch.
type known struct {
	of    *seriesRuns // nil: its rows were summed up
	again bool        // the series has had rows before
	mixed bool        // the rows belong into a mix
}

// addMixture takes the rows of a mixture. Those of series with more rows come as batches, and so do all if together they
// would be a short run.
func (a *adder) addMixture(m Mixture) error {
	few := 0
	for i := range m.Series() {
		if n := len(m.Rows(i)); n < fewRows {
			few += n
		}
	}
	whole := few >= runRows && a.to.summing.of == nil
	a.parts.pieces = a.parts.pieces[:0]
	for i := range m.Series() {
		switch n := len(m.Rows(i)); {
		case n == 0:
		case whole && n < fewRows:
			a.parts.pieces = append(a.parts.pieces, piece{begin: int32(i)})
		default:
			if err := unmix(m, i, &a.one, a.add); err != nil {
				return err
			}
		}
	}
	if !whole {
		return nil
	}
	return a.addParts(m)
}

// addParts makes a run of parts of a mixture.
func (a *adder) addParts(m Mixture) error {
	s, p := a.to, &a.parts
	s.mu.Lock()
	for i := range p.pieces {
		part := int(p.pieces[i].begin)
		p.pieces[i].series = s.numberOf(m.Of(part))
		n := len(m.Rows(part))
		s.few[p.pieces[i].series] += int32(n)
		s.total, s.kept = s.total+int64(n), s.kept+int64(n)
	}
	s.mu.Unlock()
	run := s.beginMixed(p)
	p.arrange(m)
	w := &p.out
	w.of = m.Samples()
	w.begin(p.shape, func(block []byte) error {
		if err := a.noteSamples(w.samples); err != nil {
			return err
		}
		return s.keep(run, block)
	})
	for _, i := range p.order.order {
		if err := w.addPart(p.pieces[i].series, m.Rows(int(p.pieces[i].begin))); err != nil {
			return err
		}
	}
	return w.flush()
}

// announce notes that the rows of b will be added. Their arguments have so many bytes, if they are few.
func (s *Sorter) announce(b *Batch, args int) (is known, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runsOf(b.Series, len(b.Args))
	if len(b.Args) != int(r.args) {
		return is, fmt.Errorf("%w: %d arguments, want %d as before", ErrBatch, len(b.Args), r.args)
	}
	s.total += int64(b.Len())
	if s.summing.of != nil {
		if s.summing.count(r.number, b); s.summing.take(b) {
			return is, nil
		}
	}
	s.kept += int64(b.Len())
	is = known{of: r, again: r.size.rows > 0 || int(r.number) < len(s.few) && s.few[r.number] > 0}
	r.size.add(b.Len(), 0)
	if is.mixed = !is.again && b.Len() < firstRows && args <= shortArgs; is.mixed {
		r.mix(b.Len(), args)
	}
	return is, nil
}

// note notes what rows are in b, and what of the tables they refer to.
func (a *adder) note(b *Batch) (err error) {
	if len(b.Goroutine) > 0 {
		a.goroutines |= 1 << b.Series.Kind
	}
	a.cpu = a.cpu || slices.ContainsFunc(b.CPU, func(ns int64) bool { return ns > 0 })
	if a.stacks, err = mark(a.stacks, "stack", b.Stack); err == nil {
		a.labels, err = mark(a.labels, "labels", b.Labels)
	}
	return err
}

// noteSamples is note of packed samples.
func (a *adder) noteSamples(rows []pack.Row) (err error) {
	a.noted.Stack, a.noted.Labels = a.noted.Stack[:0], a.noted.Labels[:0]
	for i := range rows {
		row := &rows[i]
		a.noted.Stack, a.noted.Labels = append(a.noted.Stack, StackID(row[packedStack])), append(a.noted.Labels, LabelsID(row[packedLabels]))
		if row[packedGoroutine] != 0 {
			a.goroutines |= 1 << Samples
		}
		a.cpu = a.cpu || int64(row[packedCPU]) > 0
	}
	return a.note(&a.noted)
}

// mix notes that so many rows of r are mixed with others.
func (r *seriesRuns) mix(rows, args int) {
	r.mixed = true
	r.size.add(0, rows*packedRow+args)
}
