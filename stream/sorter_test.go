package stream

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// feed gives s the rows of b in batches of size rows, in any order.
func feed(t *testing.T, s *Sorter, b *Batch, size int, seed uint64) {
	t.Helper()
	order := make([]int32, b.Len())
	for i, n := range rand.New(rand.NewPCG(seed, 3)).Perm(b.Len()) {
		order[i] = int32(n)
	}
	b.Select(order, &Batch{})
	part := like(b)
	for from := 0; from < b.Len(); from += size {
		part.Reset(b.Series, len(b.Args))
		part.AppendRows(b, from, min(from+size, b.Len()))
		if err := s.Add(part); err != nil {
			t.Fatal(err)
		}
		if s.store.Used() > s.memory {
			t.Fatalf("%d bytes are held, want at most %d", s.store.Used(), s.memory)
		}
	}
}

// collectRows gives all rows of the only series of s, whose labels and stacks keep their ids.
func collectRows(t *testing.T, s *Sorter, args int) (rows *Batch, opened int) {
	t.Helper()
	r := s.series[0]
	if err := errors.Join(s.finish(), s.settleMixed([]int32{0}, s.series, s.memory)); err != nil {
		t.Fatal(err)
	}
	var ids renumbering
	for i := range s.stacks {
		ids.stacks = append(ids.stacks, StackID(i))
	}
	for i := range s.labels {
		ids.labels = append(ids.labels, LabelsID(i))
	}
	segment, all := &Batch{}, &Batch{}
	all.Reset(r.series, args)
	for from := newSegments(s, []*seriesRuns{r}, &ids); ; {
		if err := from.next(segment); errors.Is(err, io.EOF) {
			return all, len(from.merger.free)
		} else if err != nil {
			t.Fatal(err)
		}
		if segment.Len() > maxSegment {
			t.Errorf("a segment has %d rows", segment.Len())
		}
		all.AppendRows(segment, 0, segment.Len())
	}
}

// With any budget and in any order, the same rows come out, sorted. Neither the memory
// nor the number of open runs grows with the rows.
func TestSorter(t *testing.T) {
	for _, want := range []*Batch{sampleRows(5, 20_000), ownedRows(5, 10_000), markerRows(5, 3_000)} {
		for _, memory := range []int64{1, 1 << 10, 200 << 10, 4 << 20, 1 << 40} {
			for _, size := range []int{7, 2 * looseRows} {
				testSorter(t, want, memory, size)
			}
		}
	}
}

// testSorter sorts rows that come in no order, so many at a time.
func testSorter(t *testing.T, want *Batch, memory int64, size int) {
	s := newSorter(memory, t.TempDir())
	defer s.Close()
	shuffled := like(want)
	shuffled.AppendRows(want, 0, want.Len())
	feed(t, s, shuffled, size, uint64(memory))
	width := s.width()
	if most := 2 * memory / openRunBytes; int64(width) > max(2, most) || s.store.Used() > 0 && int64(width) > max(2, most/2) {
		t.Errorf("memory %d, of which rows take %d: %d runs may be open", memory, s.store.Used(), width)
	}
	got, opened := collectRows(t, s, len(want.Args))
	if !sameRows(got, want) {
		t.Errorf("memory %d, %d at a time: %d rows of %v are not those that came, sorted", memory, size, got.Len(), want.Series.Kind)
	}
	if opened > width {
		t.Errorf("memory %d, %d at a time: %d runs of %v were open at once, want at most %d", memory, size, opened, want.Series.Kind, width)
	}
}

// While one goroutine spills rows, others go on, and lose none.
func TestWaiting(t *testing.T) {
	want := ownedRows(5, 8_000)
	s := newSorter(4<<20, t.TempDir())
	defer s.Close()
	adders, part := []*adder{s.adder(), s.adder()}, like(want)
	s.storing.Lock() // as while spilling
	for from := 0; from < want.Len(); from += 1000 {
		part.Reset(want.Series, 0)
		part.AppendRows(want, from, from+1000)
		if err := adders[from/1000%2].add(part); err != nil {
			t.Fatal(err)
		}
	}
	if used := s.store.Used(); used > 0 {
		t.Errorf("%d bytes were stored by one who may not", used)
	}
	s.storing.Unlock()
	if got, _ := collectRows(t, s, 0); !sameRows(got, want) {
		t.Errorf("%d rows are not those that came", got.Len())
	}
}

// Ids are marked up to the highest one, whoever met them.
func TestMarks(t *testing.T) {
	var all marks
	for _, ids := range [][]StackID{{130, 1, 63}, nil, {64, 1}} {
		m, err := mark(marks(nil), "stack", ids)
		if err != nil {
			t.Fatal(err)
		}
		all = m.addTo(all)
	}
	var got []int
	list := all.list()
	for id, met := range list {
		if met {
			got = append(got, id)
		}
	}
	if want := []int{1, 63, 64, 130}; !slices.Equal(got, want) || len(list) != 131 {
		t.Errorf("%v of %d, want %v of 131", got, len(list), want)
	}
	if _, err := mark(all, "stack", []StackID{5, -1}); !errors.Is(err, ErrUndefined) {
		t.Errorf("-1: %v", err)
	}
}

// Batches of several writers are cut where the rows of one end, and tangled ones are
// sorted: there are as many runs as writers.
func TestRunsOfWriters(t *testing.T) {
	all := sampleRows(11, 10_000)
	for _, test := range []struct {
		name string
		runs int
		size int
		turn func(i int) int // where row i of ten writers' next 1,000 rows comes
	}{
		{"one writer", 1, 300, func(i int) int { return i }},
		{"ten writers", 10, 250, func(i int) int { return i%10*100 + i/10 }},
		{"ten writers in a batch", 10, 1000, func(i int) int { return i%10*100 + i/10 }},
		{"two writers in a batch", 2, 1000, func(i int) int { return i%2*500 + i/2 }},
		{"locally turned", 1, 1000, func(i int) int { return i/10*10 + 9 - i%10 }},
	} {
		b, part := like(all), like(all)
		order := make([]int32, all.Len())
		for i := range order {
			order[i/1000*1000+test.turn(i%1000)] = int32(i)
		}
		b.AppendRows(all, 0, all.Len())
		b.Select(order, &Batch{})
		s := newSorter(1<<30, t.TempDir())
		for from := 0; from < b.Len(); from += test.size {
			part.Reset(all.Series, 0)
			part.AppendRows(b, from, from+min(test.size, b.Len()-from))
			if err := s.Add(part); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(s.series[0].ownRuns().runs); n > test.runs {
			t.Errorf("%s: %d runs, want %d", test.name, n, test.runs)
		}
		if got, _ := collectRows(t, s, 0); !sameRows(got, all) {
			t.Errorf("%s: %d rows are not those that came, sorted", test.name, got.Len())
		}
	}
}

// Each row is written again only once for each level of merging, even with many
// runs.
func TestNarrow(t *testing.T) {
	const runs, size = 128, looseRows
	s := newSorter(1, t.TempDir()) // two runs may be open
	defer s.Close()
	want := sampleRows(9, runs*size)
	shuffled := like(want)
	shuffled.AppendRows(want, 0, want.Len())
	feed(t, s, shuffled, size, 1)
	if n := len(s.series[0].ownRuns().runs); n < runs/2 {
		t.Fatalf("%d runs, want about %d", n, runs)
	}
	once := s.store.Begin()
	got, _ := collectRows(t, s, 0)
	if !sameRows(got, want) {
		t.Errorf("%d rows are not those that came, sorted", got.Len())
	}
	if most := 8 * once; s.store.Begin() > most {
		t.Errorf("%d bytes were spilled for %d, want at most %d", s.store.Begin(), once, most)
	}
}

// Rows that come in no order, a few at a time, become long runs before they are spilled, unless they are few: then
// they stay loose.
func TestLoose(t *testing.T) {
	for _, test := range []struct {
		memory      int64
		least, most int // runs
	}{{2 * looseBytes, 2, 40}, {looseBytes / 2, 0, 1}} {
		s := newSorter(test.memory, t.TempDir())
		defer s.Close()
		want := sampleRows(10, 40_000)
		shuffled := like(want)
		shuffled.AppendRows(want, 0, want.Len())
		feed(t, s, shuffled, 3, 1)
		if n := len(s.series[0].ownRuns().runs); n < test.least || n > test.most {
			t.Errorf("memory %d: %d runs, want %d to %d", test.memory, n, test.least, test.most)
		}
		if got, _ := collectRows(t, s, 0); !sameRows(got, want) {
			t.Errorf("memory %d: %d rows are not those that came, sorted", test.memory, got.Len())
		}
	}
}

// A series of few rows, some of which are loose, is sorted as a whole: no run of it is opened. What is cut from it are
// segments like those of long series.
func TestFewRows(t *testing.T) {
	for _, want := range []*Batch{sampleRows(5, 20_000), markerRows(5, 3_000)} {
		s := newSorter(4<<20, t.TempDir())
		defer s.Close()
		shuffled := like(want)
		shuffled.AppendRows(want, 0, want.Len())
		feed(t, s, shuffled, 7, 1)
		if err := s.spill(); err != nil {
			t.Fatal(err)
		}
		got, opened := collectRows(t, s, len(want.Args))
		if !sameRows(got, want) || opened > 0 {
			t.Errorf("%d rows of %v came, and %d runs were opened, want all, sorted, and none", got.Len(), want.Series.Kind, opened)
		}
	}
}

// Runs that follow each other are read with the memory of one.
func TestMergeOfConsecutiveRuns(t *testing.T) {
	s := newSorter(100<<10, t.TempDir())
	defer s.Close()
	want := sampleRows(6, 50_000)
	part := like(want)
	for from := 0; from < want.Len(); from += 1000 {
		part.Reset(want.Series, 0)
		part.AppendRows(want, from, from+1000)
		if err := s.Add(part); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.series[0].ownRuns().runs); n != 1 {
		t.Fatalf("%d runs, want 1", n)
	}
	got, opened := collectRows(t, s, 0)
	if !sameRows(got, want) || opened != 1 {
		t.Errorf("%d rows, want %d; %d runs were open at once, want 1", got.Len(), want.Len(), opened)
	}
}

func TestRoom(t *testing.T) {
	b := like(markerRows(1, 1))
	for range 3 {
		b.Time, b.Index = append(b.Time, 1), append(b.Index, 1)
		for i := range b.Args {
			b.Args[i].AppendText(make([]byte, 1000))
		}
	}
	size := b.argBytes(0)
	for _, test := range []struct{ rows, bytes, from, want int }{
		{10, 10 * size, 0, 3}, {2, 10 * size, 0, 2}, {10, 2 * size, 0, 2}, {10, 2*size - 1, 0, 1},
		{10, 1, 0, 1}, {10, 10 * size, 1, 2}, {0, size, 0, 0},
	} {
		r := room{rows: test.rows, bytes: test.bytes}
		if got := r.take(b, test.from, 3); got != test.want {
			t.Errorf("room for %d rows, %d bytes takes %d from %d, want %d", test.rows, test.bytes, got, test.from, test.want)
		}
		if again := r.take(b, 0, 1); test.want < 3-test.from && again != 0 {
			t.Errorf("full room %+v takes %d more", test, again)
		}
	}
}

// Series are found in a few steps, of whatever ids they are: where many tracks have many events, many processes have a track,
// or a track has many counters.
func TestIndexOfSeries(t *testing.T) {
	shapes := map[string]func(i int32) Series{
		"tracks of events": func(i int32) Series {
			return Series{Kind: Markers, Process: 1, Track: TrackID(1 + i%4000), Event: EventID(1 + i/4000)}
		},
		"events of processes": func(i int32) Series {
			return Series{Kind: Markers, Process: ProcessID(1 + i/16), Track: TrackID(1 + i/4), Event: EventID(1 + i%4)}
		},
		"processes": func(i int32) Series {
			return Series{Kind: Counts, Process: ProcessID(1 + i<<11), Counter: CounterID(1 + i<<9)}
		},
		"parts": func(i int32) Series { return Series{Kind: Samples, Part: int64(1 + i), Process: 1, Track: 1} },
		"samples": func(i int32) Series {
			return Series{Kind: Samples, Process: ProcessID(1 + i>>4), Track: TrackID(1 + i ^ 5)}
		},
		"samples of few tracks": func(i int32) Series {
			return Series{Kind: Samples, Process: 1, Track: TrackID(1 + i<<14)}
		},
		"samples of tracks that others have": func(i int32) Series {
			return Series{Kind: Samples, Process: ProcessID(1 + i%3), Track: TrackID(1 + i/3)}
		},
	}
	for name, of := range shapes {
		s := newSorter(1<<20, t.TempDir())
		for i := range int32(100_000) {
			s.runsOf(of(i), 0)
		}
		for i := range int32(100_000) {
			if r := s.runsOf(of(i), 0); r.number != i {
				t.Fatalf("%s: series %d is taken for %d", name, i, r.number)
			}
		}
		longest, run := 0, 0
		for _, number := range s.index {
			if run++; number == 0 {
				run = 0
			}
			longest = max(longest, run)
		}
		if longest > 500 { // some 40 by chance
			t.Errorf("%s: %d places in a row are taken", name, longest)
		}
		s.Close()
	}
}
