package stream

import (
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"sync"

	"gprof/stream/internal/runs"
)

// crowdedTables are so large, in bytes, that it does not matter if a core is busy with giving memory back.
const crowdedTables = 16 << 20

// largeShare is what part of the ceiling tables may take before they, and what Sinks make of them, need the rest.
const largeShare = 4

// settle makes the final tables, and the series with final ids in the order of the sink.
func settle(s *Sorter, t *Tables) (*Tables, []*seriesRuns, *renumbering, error) {
	err := s.finish()
	if err == nil && s.store.Spilled() && t.finalBytes() > s.crowded {
		err = s.spill() // the final tables and the sink need the memory more
		s.store.Free()
		debug.FreeOSMemory()
	}
	if err != nil {
		return nil, nil, nil, err
	}
	final, ids, err := freeze(t, s.series, s.stacks, s.labels, s.options)
	if err != nil {
		return nil, nil, nil, err
	}
	final.goroutines, final.cpu = s.goroutines, s.cpu
	outputs, places, err := collect(s.series, final, ids)
	s.summing.join(places)
	if s.holding = outputs; err == nil { // some have the rows of others now
		memory := s.memory
		if largeShare*final.finalBytes() < s.options.Memory {
			memory += s.options.Memory / claimsShare // Sources claim nothing any more
		}
		err = s.settleMixed(places, outputs, memory)
	}
	s.forget()
	return final, outputs, ids, err
}

// collect gives the series their final ids and order. Several series of the source may
// become one. Places are where in order they are, by number.
func collect(all []*seriesRuns, t *Tables, ids *renumbering) (ordered []*seriesRuns, places []int32, err error) {
	for _, r := range all {
		r.series = ids.series(r.series)
		if err := t.checkSeries(r.series, int(r.args)); err != nil {
			return nil, nil, err
		}
	}
	places = make([]int32, len(all))
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *seriesRuns) int { return a.series.Compare(b.series) })
	ordered = all[:0]
	for _, r := range all {
		if n := len(ordered); n > 0 && ordered[n-1].series == r.series {
			ordered[n-1].join(r)
		} else {
			ordered = append(ordered, r)
		}
		places[r.number] = int32(len(ordered) - 1)
	}
	clear(all[len(ordered):])
	return ordered, places, nil
}

// join takes the rows of another series.
func (r *seriesRuns) join(other *seriesRuns) {
	if from := other.own; from != nil {
		to := r.ownRuns()
		to.runs, to.loose = append(to.runs, from.runs...), append(to.loose, from.loose...)
		to.bytes += from.bytes
		other.own = nil
	}
	r.mixed = r.mixed || other.mixed
	r.size.add(int(other.size.rows), int(other.size.bytes))
}

// amount is how much the rows are.
func (r *seriesRuns) amount() amount {
	all := r.size
	if r.own != nil {
		all.add(0, int(min(r.own.bytes, math.MaxInt32)))
	}
	return all
}

// checkSeries returns an error if s does not fit the rows that it refers to.
func (t *Tables) checkSeries(s Series, args int) error {
	if want := t.Args(s); args != want {
		return fmt.Errorf("%w: %d arguments of %v, want %d", ErrBatch, args, s.Kind, want)
	}
	if s.Track != 0 && t.Tracks.At(s.Track).Process != s.Process {
		return fmt.Errorf("%w: track %d is not of process %d", ErrBatch, s.Track, s.Process)
	}
	if s.Counter != 0 && t.Counters.At(s.Counter).Process != s.Process {
		return fmt.Errorf("%w: counter %d is not of process %d", ErrBatch, s.Counter, s.Process)
	}
	return nil
}

// segments gives the segments of all series, in order.
type segments struct {
	sorter  *Sorter
	merger  runMerger
	outputs []*seriesRuns // the first one is being given
	place   int32         // of that one
	stacks  []StackID     // final ids
	labels  []LabelsID    // likewise
	begun   bool
	whole   bool // the tidier has all rows of the series
	given   int  // of these
}

func newSegments(s *Sorter, outputs []*seriesRuns, ids *renumbering) *segments {
	return &segments{sorter: s, outputs: outputs, stacks: ids.stacks, labels: ids.labels, merger: runMerger{store: s.store, memory: s.memory}}
}

// next makes b the next segment; io.EOF if there is none.
func (s *segments) next(b *Batch) error {
	for ; len(s.outputs) > 0; s.outputs, s.place, s.begun = s.outputs[1:], s.place+1, false {
		out := s.outputs[0]
		b.Reset(out.series, int(out.args))
		if err := s.fill(b, out); err != nil {
			return fmt.Errorf("of process %d: %w", out.series.Process, err)
		}
		if b.Len() > 0 {
			return nil
		}
		s.outputs[0] = nil // there may be very many
	}
	go s.sorter.store.Close() // the kernel frees its pages while the sink works
	return io.EOF
}

// fill adds the next rows of a series to b; none if there are no more.
func (s *segments) fill(b *Batch, out *seriesRuns) error {
	if !s.begun {
		if err := s.begin(b, out); err != nil {
			return err
		}
		s.begun = true
		b.Reset(out.series, int(out.args))
	}
	if s.whole {
		s.cut(b)
	} else if err := s.merger.next(b); err != nil {
		return err
	}
	for i, id := range b.Stack {
		b.Stack[i] = s.stacks[id]
	}
	for i, id := range b.Labels {
		b.Labels[i] = s.labels[id]
	}
	return nil
}

// begin begins with the rows of a series, of which like is a batch.
func (s *segments) begin(like *Batch, out *seriesRuns) error {
	own := out.own
	if own == nil {
		own = &ownRuns{}
	}
	parts, disordered := own.runs, out.mixed || len(own.loose) > 0
	if s.whole = disordered && s.sorter.tidier.few(out.amount()); s.whole {
		return s.sort(like, out, own)
	}
	if disordered {
		err := s.sorter.write(like, s.feed(like, out, own), func(first, last runs.Key) *runs.Run {
			parts = append(parts, runs.Run{First: first, Last: last})
			return &parts[len(parts)-1]
		})
		if err != nil {
			return err
		}
	}
	merge := func(parts []runs.Run, to *runs.Run) error { return s.sorter.merge(&s.merger, parts, like, to) }
	parts, err := narrow(parts, s.sorter.width(), merge)
	s.merger.start(parts)
	return err
}

// feed returns a function that adds the loose and the mixed rows of a series to the tidier.
func (s *segments) feed(like *Batch, out *seriesRuns, own *ownRuns) func(full func() error) error {
	t := s.sorter.tidier
	return func(full func() error) error {
		if err := t.readAll(own.loose, full); err != nil || !out.mixed {
			return err
		}
		for _, byRow := range []bool{false, true} {
			d := s.sorter.dealers[shape{like.Series.Kind, len(like.Args), byRow}]
			if d == nil {
				continue
			}
			rows, ok, err := d.samples(s.place)
			if ok {
				err = t.takeSamples(rows, full)
			} else if err == nil {
				err = d.deal(s.place, func(r *mixedReader) error { return t.take(r, full) })
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// sort sorts all rows of a series.
func (s *segments) sort(like *Batch, out *seriesRuns, own *ownRuns) error {
	t := s.sorter.tidier
	t.begin(like)
	if err := t.readAll(own.runs, nil); err != nil {
		return err
	}
	if err := s.feed(like, out, own)(nil); err != nil {
		return err
	}
	t.sort()
	s.given = 0
	return nil
}

// cut adds the next of these rows to b.
func (s *segments) cut(b *Batch) {
	rows, room := &s.sorter.tidier.rows, room{rows: maxSegment, bytes: maxSegmentArgs}
	n := room.take(rows, s.given, rows.Len())
	b.AppendRows(rows, s.given, s.given+n)
	s.given += n
}

const (
	// aheadGroups is how many groups of batches are made before they are asked for.
	aheadGroups = 2

	// groupBatches is how many small batches are handed on together: to wake a goroutine takes longer than to copy them.
	groupBatches = 128
	smallRows    = 128
	smallArgs    = 16 << 10 // bytes
)

// ahead calls a function that makes batches on a goroutine of its own, and
// hands them on in order.
type ahead struct {
	made, spare chan *batchGroup
	quit        chan struct{}
	working     sync.WaitGroup
	given       *batchGroup // is being given; nil: none
	at          int         // of its small batches
}

// batchGroup is batches in order. They keep their memory.
type batchGroup struct {
	small []Batch // up to groupBatches
	large Batch   // after the small ones, if they are fewer
	err   error   // instead of the large one
}

// startAhead begins to call next, until it returns an error. The caller must
// call stop.
func startAhead(next func(*Batch) error) *ahead {
	a := &ahead{made: make(chan *batchGroup, aheadGroups), spare: make(chan *batchGroup, aheadGroups), quit: make(chan struct{})}
	for range aheadGroups {
		a.spare <- &batchGroup{}
	}
	a.working.Go(func() { a.make(next) })
	return a
}

// make fills whatever group is spare.
func (a *ahead) make(next func(*Batch) error) {
	for {
		select {
		case g := <-a.spare:
			g.fill(next)
			err := g.err
			a.made <- g // has room for all there are
			if err != nil {
				return
			}
		case <-a.quit:
			return
		}
	}
}

// fill makes the batches of a group.
func (g *batchGroup) fill(next func(*Batch) error) {
	g.small = g.small[:0]
	for n := range groupBatches {
		if g.err = next(&g.large); g.err != nil || !g.large.isSmall() {
			return
		}
		g.small = slices.Grow(g.small, 1)[:n+1]
		g.small[n].copy(&g.large)
	}
}

func (b *Batch) isSmall() bool {
	bytes := 0
	for i := range b.Args {
		bytes += 9*b.Len() + len(b.Args[i].data)
	}
	return b.Len() <= smallRows && bytes <= smallArgs
}

// copy makes b the same as another batch.
func (b *Batch) copy(src *Batch) {
	b.Reset(src.Series, len(src.Args))
	b.AppendRows(src, 0, src.Len())
}

// next makes b the next batch. After an error it must not be called again.
func (a *ahead) next(b *Batch) error {
	if a.given == nil {
		a.given, a.at = <-a.made, 0
	}
	g := a.given
	if a.at < len(g.small) {
		b.copy(&g.small[a.at])
		if a.at++; a.at == groupBatches {
			a.release()
		}
		return nil
	}
	*b, g.large = g.large, *b
	if g.err != nil {
		return g.err
	}
	a.release()
	return nil
}

// release gives back the group that was given.
func (a *ahead) release() {
	a.spare <- a.given
	a.given = nil
}

// stop ends the calls.
func (a *ahead) stop() {
	close(a.quit)
	a.working.Wait()
}
