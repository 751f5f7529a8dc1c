package stream

import (
	"fmt"
	"slices"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

// dealtBytes is about how much memory a mixed run takes while it is read: bytes read ahead and a block.
const dealtBytes = 24 << 10

// dealer gives the rows of mixed runs of a shape series by series, in order.
type dealer struct {
	store   *runs.Store
	shape   shape
	places  []int32 // of series, by number
	ahead   int     // how many bytes of a run are read at a time
	waiting []runs.Run
	open    []*mixedReader
	next    []int32 // the place of each open one's next group
	free    []*mixedReader

	sizes    []int32      // at most so many rows are of the series at each place; nil: unknown
	drawn    [][]pack.Row // samples of the places from from to to-1
	from, to int32
}

// Of so many rows samples are drawn from each run at a time, even if they are of several series. What is known of a run is far from
// the next one in memory.
const drawnRows = sortedRows

// samples are the rows of the series at a place, until the next call; not ok if they may be too many. Those of series before it
// must have been taken.
func (d *dealer) samples(place int32) (rows []pack.Row, ok bool, err error) {
	if !d.shape.byRow || int(place) >= len(d.sizes) || d.sizes[place] > drawnRows {
		return nil, false, nil
	}
	if place >= d.to {
		if err := d.draw(place); err != nil {
			return nil, false, err
		}
	}
	return d.drawn[place-d.from], true, nil
}

// draw takes samples from a place on.
func (d *dealer) draw(from int32) error {
	if err := d.due(from); err != nil {
		return err
	}
	d.from, d.to = from, from+1
	for rows := d.sizes[from]; int(d.to) < len(d.sizes) && d.sizes[d.to] <= drawnRows-rows; d.to++ {
		if len(d.waiting) > 0 && d.waiting[0].First.Time <= int64(d.to) {
			break // it takes memory as soon as it is opened
		}
		rows += d.sizes[d.to]
	}
	n := int(d.to - from)
	d.drawn = slices.Grow(d.drawn[:0], n)[:n]
	for k := range d.drawn {
		d.drawn[k] = d.drawn[k][:0]
	}
	return d.eachDue(d.to, func(place int32, r *mixedReader) error {
		if place < from {
			return fmt.Errorf("reading spilled rows: %w", runs.ErrDamaged)
		}
		r.appendRows(&d.drawn[place-from])
		return nil
	})
}

// start begins with runs whose groups are in the order of places. The First and Last of a run are places.
func (d *dealer) start(parts []runs.Run, ahead int) {
	slices.SortFunc(parts, func(a, b runs.Run) int { return a.First.Compare(b.First) })
	d.waiting, d.ahead = parts, ahead
}

// deal calls take with readers that are at groups of the series at a place, for all of them. Those of series before it must
// have been taken.
func (d *dealer) deal(place int32, take func(*mixedReader) error) error {
	if err := d.due(place); err != nil {
		return err
	}
	return d.eachDue(place+1, func(at int32, r *mixedReader) error {
		if at < place {
			return fmt.Errorf("reading spilled rows: %w", runs.ErrDamaged)
		}
		return take(r)
	})
}

// eachDue calls take with readers that are at groups of series before a place, run by run, for all of them in open runs.
func (d *dealer) eachDue(before int32, take func(place int32, r *mixedReader) error) error {
	for i := 0; i < len(d.next); {
		r, more := d.open[i], true
		for more && d.next[i] < before {
			err := take(d.next[i], r)
			if err == nil {
				more, err = d.step(i)
			}
			if err != nil {
				return err
			}
		}
		if more {
			i++
			continue
		}
		d.free = append(d.free, r)
		last := len(d.open) - 1
		d.open[i], d.next[i] = d.open[last], d.next[last]
		d.open, d.next = d.open[:last], d.next[:last]
	}
	return nil
}

// due opens the runs that have rows of the series at a place.
func (d *dealer) due(place int32) error {
	for len(d.waiting) > 0 && d.waiting[0].First.Time <= int64(place) {
		var r *mixedReader
		if n := len(d.free); n > 0 {
			r, d.free = d.free[n-1], d.free[:n-1]
		} else {
			r = &mixedReader{blocks: d.store.NewReader()}
		}
		r.begin(&d.waiting[0], d.shape, d.ahead)
		d.waiting = d.waiting[1:]
		d.open, d.next = append(d.open, r), append(d.next, 0)
		if _, err := d.step(len(d.open) - 1); err != nil {
			return err
		}
	}
	return nil
}

// step goes to the next group of an open run. It returns false if there is none.
func (d *dealer) step(i int) (more bool, err error) {
	r := d.open[i]
	if more, err = r.next(); err != nil {
		return false, fmt.Errorf("reading spilled rows: %w", err)
	}
	if more {
		series, _, _ := r.where()
		if int(series) >= len(d.places) {
			return false, fmt.Errorf("reading spilled rows: %w", runs.ErrDamaged)
		}
		d.next[i] = d.places[series]
	}
	return more, nil
}

// least is the lowest place of a row that is left; none is not ok.
func (d *dealer) least() (place int32, ok bool) {
	if len(d.next) > 0 {
		place, ok = slices.Min(d.next), true
	}
	if len(d.waiting) > 0 {
		if first := int32(d.waiting[0].First.Time); !ok || first < place {
			place, ok = first, true
		}
	}
	return place, ok
}

// mixedRuns are those of one shape. As long as rows are added, First and Last of a run are numbers of series.
type mixedRuns struct {
	shape shape
	runs  []*runs.Run
}

// beginMixed begins a run of the rows of m, whose pieces it sorts.
func (s *Sorter) beginMixed(m *mix) *runs.Run {
	s.storing.Lock()
	defer s.storing.Unlock()
	s.rank()
	m.sort(s.ranking.rank)
	at := slices.IndexFunc(s.mixed, func(of mixedRuns) bool { return of.shape == m.shape })
	if at < 0 {
		at = len(s.mixed)
		s.mixed = append(s.mixed, mixedRuns{shape: m.shape})
	}
	r := &runs.Run{First: runs.Key{Time: int64(m.first())}, Last: runs.Key{Time: int64(m.last())}}
	s.mixed[at].runs = append(s.mixed[at].runs, r)
	s.store.CountRun()
	return r
}

// settleMixed makes dealers of all mixed runs, which may take so much memory. Places are those of series in the output, by
// number, and outputs the series by place.
//
//  1. Runs are sorted anew if what is known now makes another order than what was known before.
//  2. They are merged until few enough overlap.
func (s *Sorter) settleMixed(places []int32, outputs []*seriesRuns, memory int64) error {
	ordered := s.ranking.holds(places)
	for _, of := range s.mixed {
		for _, r := range of.runs {
			if !ordered {
				if err := s.sortMixed(of.shape, r, places); err != nil {
					return err
				}
			}
			r.First.Time, r.Last.Time = int64(places[r.First.Time]), int64(places[r.Last.Time])
		}
	}
	s.dealers = make(map[shape]*dealer, len(s.mixed))
	sizes := make([]int32, len(outputs))
	for place, r := range outputs {
		sizes[place] = r.size.rows
	}
	for _, of := range s.mixed {
		d := &dealer{store: s.store, shape: of.shape, places: places, sizes: sizes}
		if err := d.startAll(of.runs, memory/int64(len(s.mixed))); err != nil {
			return err
		}
		s.dealers[of.shape] = d
	}
	return nil
}

// startAll begins with all runs, for which there is so much memory.
func (d *dealer) startAll(all []*runs.Run, memory int64) error {
	parts := make([]runs.Run, len(all))
	for i, r := range all {
		parts[i] = *r
	}
	parts, err := narrow(parts, max(2, int(memory/dealtBytes)), d.merge)
	d.start(parts, min(max(int(memory)/max(len(parts), 1), minAhead), looseAhead))
	return err
}

// sortMixed puts the groups of a run into another order, because it has turned out only now.
func (s *Sorter) sortMixed(of shape, r *runs.Run, places []int32) error {
	m, from := newMix(of), mixedReader{blocks: s.store.NewReader()}
	from.begin(r, of, looseAhead)
	for {
		more, err := from.next()
		if err != nil {
			return fmt.Errorf("reading spilled rows: %w", err)
		}
		if !more {
			break
		}
		series, _, _ := from.where()
		m.add(series, from.appendTo)
	}
	m.sort(func(series int32) int64 { return int64(places[series]) })
	*r = runs.Run{}
	r.First.Time, r.Last.Time = int64(m.first()), int64(m.last())
	return m.encode(func(block []byte) error { return s.keep(r, block) })
}

// keep appends a block to a run of s, and spills what is in memory if that is too much then.
func (s *Sorter) keep(r *runs.Run, block []byte) error {
	s.storing.Lock()
	defer s.storing.Unlock()
	if s.store.Append(r, block); s.store.Used() > s.memory {
		return s.spill()
	}
	return nil
}

// merge appends the rows of several runs to one in the file.
func (d *dealer) merge(parts []runs.Run, to *runs.Run) error {
	d.start(parts, minAhead)
	begin, w := d.store.Begin(), mixWriter{}
	for w.begin(d.shape, d.store.Write); ; {
		place, ok := d.least()
		if !ok {
			break
		}
		to.Last.Time = int64(place)
		if err := d.deal(place, w.addGroup); err != nil {
			return err
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	return d.store.End(to, begin)
}
