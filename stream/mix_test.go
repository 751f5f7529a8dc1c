package stream

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

// manySeries is rows of many series: samples with owners, of some of which the last ones have spans, and markers.
func manySeries() (all []*Batch) {
	for i := range 900 {
		b := ownedRows(uint64(i), 40+i%60)
		if i%3 == 0 {
			b = markerRows(uint64(i), 10+i%20)
		}
		if i%4 == 1 && b.Series.Kind == Samples {
			for row := b.Len() - 10; row < b.Len(); row++ {
				b.SetSpan(row, Span{ID: uint64(row + 1)})
			}
		}
		b.Series.Track = TrackID(i + 1)
		all = append(all, b)
	}
	return all
}

// parts is a mixture. The number of a row is that of its part, and its place there.
type parts []*Batch

func (p parts) Series() int { return len(p) }

func (p parts) Of(i int) Series { return p[i].Series }

func (p parts) Rows(i int) (rows []int32) {
	for row := range p[i].Len() {
		rows = append(rows, int32(i<<8|row))
	}
	return rows
}

func (p parts) Arrange([]int32) {}

func (p parts) Samples() []SampleRow {
	all := make([]SampleRow, len(p)<<8)
	for i, b := range p {
		for k := range b.Len() {
			w := b.Owner(k)
			all[i<<8|k] = SampleRow{Time: b.Time[k], Index: b.Index[k], Weight: b.Weight[k], CPU: b.CPU[k], Thread: w.Thread,
				Goroutine: w.Goroutine, Stack: b.Stack[k], Labels: w.Labels}
		}
	}
	return all
}

// feedMixed gives s all rows: the last ones of each series in a batch, then those before them, of samples as mixtures of a
// few rows each, of markers as short batches. It does so in another order of series each time.
func feedMixed(t *testing.T, s *Sorter, all []*Batch) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	left := make([]int, len(all))
	for i, b := range all {
		left[i] = b.Len()
	}
	for more, first := true, true; more; first = false {
		var m parts
		for _, i := range random.Perm(len(all)) {
			part, to := like(all[i]), left[i]
			left[i] = max(0, to-17-random.IntN(fewRows-17))
			if part.AppendRows(all[i], left[i], to); part.Len() == 0 {
				continue
			}
			if part.Series.Kind == Samples && !first {
				m = append(m, part)
			} else if err := s.Add(part); err != nil {
				t.Fatal(err)
			}
		}
		if more = first || len(m) > 0; len(m) > 0 {
			if err := s.adders[0].addMixture(m); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Rows of many series that come as mixtures or in short batches come out series by series, sorted, with any memory and in
// any order of series, whether that was expected or not.
func TestMixed(t *testing.T) {
	all := manySeries()
	expected := make([]int32, len(all))
	for i := range expected {
		expected[i] = int32(i)
	}
	backwards, shuffled := slices.Clone(expected), slices.Clone(expected)
	slices.Reverse(backwards)
	rand.New(rand.NewPCG(7, 8)).Shuffle(len(all), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
	for _, memory := range []int64{1, 200 << 10, 1 << 40} {
		for name, order := range map[string][]int32{"as expected": expected, "backwards": backwards, "shuffled": shuffled} {
			t.Run(fmt.Sprintf("memory=%d/%s", memory, name), func(t *testing.T) {
				s := newSorter(memory, t.TempDir())
				defer s.Close()
				feedMixed(t, s, all)
				checkMixed(t, s, all, order)
			})
		}
	}
}

// checkMixed checks the rows that come out of s, in an order of all that is by their index.
func checkMixed(t *testing.T, s *Sorter, all []*Batch, order []int32) {
	t.Helper()
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	places, outputs := make([]int32, len(all)), make([]*seriesRuns, len(all))
	for place, i := range order {
		for _, r := range s.series {
			if r.series == all[i].Series {
				places[r.number], outputs[place] = int32(place), r
			}
		}
	}
	if err := s.settleMixed(places, s.series, s.memory); err != nil {
		t.Fatal(err)
	}
	ids := renumbering{}
	for i := range s.stacks {
		ids.stacks = append(ids.stacks, StackID(i))
	}
	for i := range s.labels {
		ids.labels = append(ids.labels, LabelsID(i))
	}
	from, segment := newSegments(s, outputs, &ids), &Batch{}
	for place, i := range order {
		got := like(all[i])
		for got.Len() < all[i].Len() {
			if err := from.next(segment); err != nil {
				t.Fatalf("series at place %d: %v", place, err)
			}
			if segment.Series != all[i].Series {
				t.Fatalf("at place %d come rows of %v, want %v", place, segment.Series, all[i].Series)
			}
			got.AppendRows(segment, 0, segment.Len())
		}
		if !sameRows(got, all[i]) {
			t.Errorf("%d rows of %v are not those that came, sorted", got.Len(), got.Series)
		}
	}
	if err := from.next(segment); !errors.Is(err, io.EOF) {
		t.Errorf("after all rows: %v", err)
	}
}

// A mixed run is of so many rows that few need to be read at the same time, and a mixture of few rows becomes none.
func TestMixedRuns(t *testing.T) {
	all := manySeries()
	s := newSorter(1<<40, t.TempDir())
	defer s.Close()
	feedMixed(t, s, all)
	for _, of := range s.mixed {
		for _, r := range of.runs {
			if rows := rowsOfMixed(t, s, of.shape, r); of.shape.byRow && rows < runRows {
				t.Errorf("a run has %d rows, want at least %d", rows, runRows)
			}
		}
	}
	before := mixedRunsOf(s)
	few := like(all[1])
	few.AppendRows(all[1], 0, fewRows-1)
	if err := s.adders[0].addMixture(parts{few}); err != nil {
		t.Fatal(err)
	}
	if n := mixedRunsOf(s); before == 0 || n != before {
		t.Errorf("%d rows made %d mixed runs of %d", few.Len(), n, before)
	}
}

// arranged is a mixture that remembers the order it was asked for.
type arranged struct {
	parts
	order []int32
}

func (a *arranged) Arrange(order []int32) { a.order = slices.Clone(order) }

// A mixture is asked for the order that its series will have, unless it is near that already.
func TestMixtureArranged(t *testing.T) {
	s := newSorter(1<<40, t.TempDir())
	defer s.Close()
	all := slices.DeleteFunc(manySeries(), func(b *Batch) bool { return b.Series.Kind != Samples })
	m := &arranged{}
	for _, i := range rand.New(rand.NewPCG(5, 6)).Perm(len(all)) {
		part := like(all[i])
		part.AppendRows(all[i], 0, min(all[i].Len(), fewRows-1))
		m.parts = append(m.parts, part)
	}
	ask := func() []int32 {
		m.order = nil
		if err := s.adders[0].addMixture(m); err != nil {
			t.Fatal(err)
		}
		return m.order
	}
	order := ask()
	inOrder := make(parts, len(order))
	for i, n := range order {
		inOrder[i] = m.parts[n]
	}
	if len(order) != len(all) || !slices.IsSortedFunc(inOrder, func(a, b *Batch) int { return int(a.Series.Track - b.Series.Track) }) {
		t.Fatalf("of %d series %d were asked for, in another order than they will have", len(all), len(order))
	}
	m.parts = inOrder
	if again := ask(); again != nil {
		t.Errorf("series that come in order were asked for in the order %v", again)
	}
	m.parts = append(inOrder[5:len(inOrder):len(inOrder)], inOrder[:5]...) // as if some were new
	if again := ask(); again != nil {
		t.Errorf("series of which five are out of order were asked for in the order %v", again)
	}
}

// mixedRunsOf is how many mixed runs there are.
func mixedRunsOf(s *Sorter) (n int) {
	for _, of := range s.mixed {
		n += len(of.runs)
	}
	return n
}

func rowsOfMixed(t *testing.T, s *Sorter, of shape, run *runs.Run) (rows int) {
	t.Helper()
	r := mixedReader{blocks: s.store.NewReader()}
	for r.begin(run, of, minAhead); ; {
		more, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return rows
		}
		_, from, to := r.where()
		rows += to - from
	}
}

// With little memory mixed runs are merged, until few enough need to be read at the same time.
func TestMixedNarrow(t *testing.T) {
	all := manySeries()
	s := newSorter(1, t.TempDir())
	defer s.Close()
	feedMixed(t, s, all)
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	places := make([]int32, len(all))
	for i, r := range s.series {
		places[i] = int32(r.series.Track - 1)
	}
	if err := s.settleMixed(places, s.series, s.memory); err != nil {
		t.Fatal(err)
	}
	for of, d := range s.dealers {
		if n := runs.Overlap(d.waiting); n > 2 {
			t.Errorf("%d runs of %v are to be read at the same time, want 2", n, of.kind)
		}
	}
}

// Samples of several series are drawn from runs at a time, of series that may have too many rows for that none, and no run is
// opened before its time.
func TestSamplesDrawn(t *testing.T) {
	all := manySeries()
	s := newSorter(1<<40, t.TempDir())
	defer s.Close()
	feedMixed(t, s, all)
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	places := make([]int32, len(all))
	outputs := make([]*seriesRuns, len(all))
	for i, r := range s.series {
		places[i] = int32(r.series.Track - 1)
		outputs[places[i]] = r
	}
	const long = 100
	outputs[long].size.rows = drawnRows + 1
	if err := s.settleMixed(places, outputs, s.memory); err != nil {
		t.Fatal(err)
	}
	d := s.dealers[shape{kind: Samples, byRow: true}]
	found, most, waited := 0, int32(0), false
	for place := range int32(len(all)) {
		rows, ok, err := d.samples(place)
		if ok == (place == long) || err != nil {
			t.Fatalf("of series %d samples are drawn: %v, %v", place, ok, err)
		}
		if place == long {
			err = d.deal(place, func(r *mixedReader) error { r.appendRows(&rows); return nil })
		}
		if found += len(rows); err != nil {
			t.Fatal(err)
		}
		if most = max(most, d.to-d.from); len(d.waiting) > 0 && place != long {
			if waited = true; d.waiting[0].First.Time < int64(d.to) {
				t.Errorf("samples of series up to %d are drawn before a run that begins with %d", d.to-1, d.waiting[0].First.Time)
			}
		}
	}
	if most < 300 || !waited {
		t.Errorf("samples of at most %d series are drawn at a time; some runs began later: %v", most, waited)
	}
	want := 0
	for _, of := range s.mixed {
		for _, r := range of.runs {
			if of.shape == d.shape {
				want += rowsOfMixed(t, s, of.shape, r)
			}
		}
	}
	if want == 0 || found != want {
		t.Errorf("%d samples are drawn, want %d", found, want)
	}
	if err := d.deal(0, nil); err != nil {
		t.Errorf("after the last one: %v", err)
	}
}

// A block that was cut, or whose groups don't have its rows, gives an error.
func TestMixedDamage(t *testing.T) {
	for _, of := range []shape{{kind: Samples}, {kind: Samples, byRow: true}} {
		mixedDamage(t, of)
	}
}

func mixedDamage(t *testing.T, of shape) {
	t.Helper()
	var blocks [][]byte
	w := mixWriter{}
	w.begin(of, func(block []byte) error { blocks = append(blocks, slices.Clone(block)); return nil })
	b := ownedRows(1, 30)
	if err := errors.Join(w.add(3, b, 0, 10), w.add(4, b, 10, 30), w.flush()); err != nil || len(blocks) != 1 {
		t.Fatal(len(blocks), err)
	}
	read := func(block []byte) error {
		r := mixedReader{shape: of}
		r.rows.Reset(Series{Kind: of.kind}, of.args)
		return r.read(append(slices.Clone(block), make([]byte, pack.Slack)...)[:len(block)])
	}
	if err := read(blocks[0]); err != nil {
		t.Fatal(err)
	}
	for n := range blocks[0] {
		if err := read(blocks[0][:n]); !errors.Is(err, runs.ErrDamaged) {
			t.Errorf("%v: cut after %d bytes: %v", of, n, err)
		}
	}
	if err := w.add(5, b, 0, 2); err != nil {
		t.Fatal(err)
	}
	w.counts[0] = 1
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	if err := read(blocks[1]); !errors.Is(err, runs.ErrDamaged) {
		t.Errorf("%v: with more rows than groups have: %v", of, err)
	}
}

// inOrder is all series of a ranking.
func (r *ranking) inOrder() []int32 {
	var all []int32
	for _, id := range r.order {
		all = append(all, r.blocks[id]...)
	}
	return all
}

// Series that are ranked bit by bit are in order, none changes places with another, and a few new ones move few of the
// others, wherever they belong.
func TestRanking(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, next := range map[string]func(i int) int{
		"at the end":   func(i int) int { return i },
		"at the front": func(i int) int { return -i },
		"in between":   func(i int) int { return i * (i%2*2 - 1) },
		"alike":        func(int) int { return 7 },
		"anywhere":     func(int) int { return random.IntN(1000) },
	} {
		t.Run(name, func(t *testing.T) { rankAll(t, next) })
	}
}

func rankAll(t *testing.T, next func(i int) int) {
	var all []*seriesRuns
	var r ranking
	compare := func(a, b Series) int { return int(a.Track - b.Track) }
	for _, n := range append([]int{0, 5, 1, 0, 100, 3, 1000, 5000}, slices.Repeat([]int{3}, 300)...) {
		before, was := r.inOrder(), slices.Clone(r.ranked)
		for range n {
			all = append(all, &seriesRuns{series: Series{Track: TrackID(next(len(all))), Process: ProcessID(len(all))}})
		}
		r.add(all, compare)
		now := r.inOrder()
		if len(now) != len(all) || !slices.IsSortedFunc(now, func(a, b int32) int { return compare(all[a].series, all[b].series) }) {
			t.Fatalf("%d series are ranked, want %d; not in order: %v", len(now), len(all), now)
		}
		if left := slices.DeleteFunc(slices.Clone(now), func(n int32) bool { return int(n) >= len(before) }); !slices.Equal(left, before) {
			t.Errorf("%v became %v", before, left)
		}
		if !slices.IsSortedFunc(now, func(a, b int32) int { return int(r.rank(a) - r.rank(b)) }) {
			t.Error("ranks are in another order")
		}
		moved := 0
		for i := range was {
			if was[i] != r.ranked[i] {
				moved++
			}
		}
		if moved > n*rankedTogether {
			t.Errorf("%d new ones moved %d", n, moved)
		}
	}
	places := make([]int32, len(all))
	for place, n := range r.inOrder() {
		places[n] = int32(place)
	}
	if !r.holds(places) {
		t.Error("its own order is taken for another one")
	}
	first, last := r.inOrder()[0], r.inOrder()[len(all)-1]
	if places[first], places[last] = places[last], places[first]; r.holds(places) {
		t.Error("another order is taken for the same")
	}
	if most := len(all)*3/rankedTogether + 1; len(r.blocks) > most {
		t.Errorf("%d blocks, want at most %d", len(r.blocks), most)
	}
}
