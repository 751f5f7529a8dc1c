package decode

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"gprof/rawformat"
	"gprof/stream"
)

// agree reads fields both ways. The quick reader may give an entry up, but what
// it takes apart is what the strict one finds.
func agree(t *testing.T, k rawformat.Kind, fields []byte, slack byte) (quick bool) {
	t.Helper()
	l := &layouts[k]
	if *l == irregular {
		return false
	}
	data := append(bytes.Clone(fields), bytes.Repeat([]byte{slack}, rawformat.Slack)...)
	var fast, strict entry
	quick = fast.read(l, data, 0, len(fields))
	c := rawformat.NewCursor(fields, 1000)
	_, err := strict.readStrictly(k, &c)
	if !quick {
		return false
	}
	if err != nil {
		t.Fatalf("%s %x: taken apart, but %v", rawformat.Kinds[k].Name, fields, err)
	}
	same := fast.v == strict.v && bytes.Equal(fast.text, strict.text) && len(fast.args) == len(strict.args)
	for i := range fast.args {
		a, b := &fast.args[i], &strict.args[i]
		if same = same && a.wire == b.wire; same && a.wire == rawformat.WireText {
			same = bytes.Equal(fast.textOf(a), strict.textOf(b))
		} else {
			same = same && a.num == b.num
		}
	}
	if !same {
		t.Fatalf("%s %x:\n%+v\n%+v", rawformat.Kinds[k].Name, fields, fast, strict)
	}
	return true
}

// randomFields makes fields of a kind.
func randomFields(r *rand.Rand, k rawformat.Kind) (b []byte) {
	number := func() uint64 { return r.Uint64() >> r.IntN(64) }
	for _, f := range rawformat.Kinds[k].Fields {
		switch f.Type {
		case rawformat.Uint, rawformat.Sint, rawformat.Time, rawformat.Coarse:
			b = rawformat.AppendUint(b, number())
		case rawformat.Fixed:
			b = rawformat.AppendFixed(b, number())
		case rawformat.Text:
			b = rawformat.AppendText(b, make([]byte, r.IntN(200)))
		case rawformat.PCs:
			b = rawformat.AppendPCs(b, []uint64{number(), number()})
		case rawformat.ArgSet:
			var args []rawformat.Arg
			for range r.IntN(rawformat.MaxArgs + 1) {
				args = append(args, []rawformat.Arg{rawformat.Int(int64(number())), rawformat.Uint64(number()), rawformat.Float(1.5), rawformat.String("text")}[r.IntN(4)])
			}
			b = rawformat.AppendArgs(b, args)
		}
	}
	return b
}

// Entries of all kinds, whole, cut at each byte, and with a bit turned.
func TestReadersAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	quick := map[rawformat.Kind]int{}
	for range 300 {
		for k := range rawformat.Kinds {
			kind := rawformat.Kind(k)
			fields := randomFields(r, kind)
			if agree(t, kind, fields, 0xff) {
				quick[kind]++
			}
			for n := range fields {
				agree(t, kind, fields[:n], byte(n))
				fields[n] ^= 1 << r.IntN(8)
				agree(t, kind, fields, 0)
			}
		}
	}
	for k, h := range handlers {
		if tail := layouts[k].tail; h != nil && !(layouts[k].hasTail && tail == rawformat.PCs) && quick[rawformat.Kind(k)] < 80 {
			t.Errorf("%s: %d of 300 were read quickly", rawformat.Kinds[k].Name, quick[rawformat.Kind(k)])
		}
	}
}

// FuzzEntry: both readers agree on any bytes as the fields of any kind.
func FuzzEntry(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for k, spec := range rawformat.Kinds {
		if spec.Name != "" {
			f.Add(byte(k), randomFields(r, rawformat.Kind(k)))
		}
	}
	f.Fuzz(func(t *testing.T, k byte, fields []byte) {
		agree(t, rawformat.Kind(k), fields, 0xff)
		agree(t, rawformat.Kind(k), fields, 0)
	})
}

// Ids far beyond those before take no more memory than others, and are found.
func TestIDs(t *testing.T) {
	var table ids[int32]
	model := map[uint64]int32{}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range int32(20_000) {
		id := uint64(i)
		if i%7 == 0 {
			id = r.Uint64() >> r.IntN(64)
		}
		table.put(id, i+1)
		model[id] = i + 1
	}
	for id, want := range model {
		if got := table.get(id); got != want {
			t.Fatalf("id %d is %d, want %d", id, got, want)
		}
	}
	if table.get(1<<60+1) != 0 || len(table.dense) > 2*20_000+spareIDs {
		t.Errorf("%d rows for 20000 ids", len(table.dense))
	}
	table.reset()
	if !reflect.DeepEqual(table.dense, []int32{}) || table.get(1) != 0 {
		t.Error("a table that was reset holds something")
	}
}

// The last sample of a chunk is forgotten with it.
func TestLastSamples(t *testing.T) {
	var last lastSamples
	for chunk := range uint64(5) {
		last.clear()
		if last.find(whoOf(0, chunk)) >= 0 {
			t.Fatal("an empty table holds something")
		}
		for i := range uint64(1000) {
			last.samples[last.place(whoOf(i%10, i))].link.sid = 0
			at, near := last.near(whoOf(i%10, i))
			if !near {
				at = last.place(whoOf(i%10, i))
			}
			last.samples[at].link.sid = 7 + stream.StackID(i)
		}
		for i := range uint64(1000) {
			want := 7 + stream.StackID(i)
			if i%10 != 0 { // of a thread the last one counts, whatever its goroutine was
				want = 7 + 990 + stream.StackID(i%10)
			}
			if at := last.find(whoOf(i%10, i)); at < 0 || last.samples[at].link.sid != want {
				t.Fatalf("chunk %d: the stack of thread %d goroutine %d is not %d", chunk, i%10, i, want)
			}
		}
		if n := len(last.samples); n != 100+9 {
			t.Errorf("there are %d, want 109", n)
		}
	}
}

// Batches that are given back are used again, up to a bound, first for the series that they had.
func TestSpareIsBounded(t *testing.T) {
	var s freeList
	series := func(track int) stream.Series { return stream.Series{Track: stream.TrackID(track)} }
	large := &stream.Batch{Series: series(1), Time: make([]stream.Time, minSpare/2)}
	s.give(large)
	for i := range 10 {
		s.give(&stream.Batch{Series: series(2 + i/2), Time: make([]stream.Time, minSpare/4)})
	}
	if len(s.known) != 2 || len(s.other) != 1 || s.rows != minSpare {
		t.Errorf("%d and %d batches of %d rows are kept", len(s.known), len(s.other), s.rows)
	}
	s.take(series(3))
	if got := s.take(series(2)); got.Series != series(2) || s.rows != minSpare/2 {
		t.Errorf("series 2 gets the batch of %v, %d rows are left", got.Series, s.rows)
	}
	if b := s.take(series(3)); b == large {
		t.Error("another series gets a batch that is kept for one")
	}
	s.forget()
	if b := s.take(series(3)); b != large || s.rows != 0 || s.take(series(1)).Len() != 0 {
		t.Errorf("%d rows are left", s.rows)
	}
}

// Rows of thousands of series are handed on later, as far as there is memory for them, and more so samples that are
// gathered. Before they are, each series has a batch that would grow, so these are handed on at once.
func TestFull(t *testing.T) {
	for _, c := range []struct{ rows, series, tracks, most int }{
		{batchRows, 1, 0, maxRows}, {batchRows, 8, 0, 0}, {batchRows, manyTracks, 0, maxRows}, {batchRows, 20_000, 0, maxRows},
		{64_000, 0, 1000, maxRows}, {80_000, 1000, 1000, maxRows}, {manyRows, 20_000, 1000, maxRows}, {160_000, 0, 20_000, maxRows}, {maxRows, 0, 100_000, maxRows}, {manyRows, 0, 100_000, manyRows}, {batchRows, 0, 20_000, 0}, {9000, 20_000, 20_000, 9000},
	} {
		r := rows{order: make([]*stream.Batch, c.series), tracks: c.tracks, gathers: c.tracks > 0, most: c.most, count: c.rows}
		if !r.full() {
			t.Errorf("%+v: the rows are not handed on", c)
		}
		if r.count--; r.full() {
			t.Errorf("%+v: one row less is handed on", c)
		}
	}
}

// Samples that were gathered come back track by track, each with its own in order, also in memory that was used before.
func TestGathered(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lanes := make([]lane, 50)
	for i := range lanes {
		lanes[i] = lane{process: 1 + stream.ProcessID(i%2), id: stream.TrackID(100 + i)}
	}
	r := rows{gathers: true}
	for round := range 3 {
		want := map[stream.Series][]stream.SampleRow{}
		some := lanes[10*round:][:30]
		for i := range uint64(1000) {
			l := &some[random.IntN(len(some))]
			s := stream.SampleRow{Time: stream.Time(random.IntN(100)), Index: i, Thread: int64(i % 7), Goroutine: int64(i % 5), Weight: int64(i % 3), CPU: int64(i%11) - 1, Stack: stream.StackID(i % 13), Labels: stream.LabelsID(i % 2)}
			r.gather(numberIn(&r, l), &s)
			want[l.series()] = append(want[l.series()], s)
		}
		h := r.hand(nil)
		r.gathers = true // though they are few
		var b stream.Batch
		for h.samples.take(&b) {
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
			if len(want[b.Series]) != b.Len() {
				t.Fatalf("%d rows of %v, want %d", b.Len(), b.Series, len(want[b.Series]))
			}
			for i, s := range want[b.Series] {
				w := stream.Owner{Thread: s.Thread, Goroutine: s.Goroutine, Labels: s.Labels}
				if b.Time[i] != s.Time || b.Index[i] != s.Index || b.Stack[i] != s.Stack || b.Weight[i] != s.Weight || b.CPU[i] != s.CPU || b.Owner(i) != w {
					t.Fatalf("row %d of %v is not %+v", i, b.Series, s)
				}
			}
			delete(want, b.Series)
		}
		if len(want) > 0 {
			t.Fatalf("%d series are missing", len(want))
		}
		r.spare = h.samples
	}
}

// numberIn is the number that a lane's series has in what r gathers.
func numberIn(r *rows, l *lane) int32 {
	to := r.gathering()
	return to.number(l, r.numbering)
}

// Series that are gathered keep their numbers from one hand-over to the next. If most have no rows any more they get new ones, so
// that there are not more and more of them.
func TestNumbersKept(t *testing.T) {
	lanes := make([]lane, 100)
	for i := range lanes {
		lanes[i].id = stream.TrackID(i + 1)
	}
	r := rows{gathers: true}
	for _, c := range []struct{ from, to, tracks, known int }{
		{0, 100, 100, 100}, // all are new
		{50, 100, 50, 100},
		{60, 100, 40, 100}, // less than half
		{70, 100, 30, 30},
		{0, 10, 10, 40},
		{0, 1, 1, 1},
	} {
		for i := c.from; i < c.to; i++ {
			r.gather(numberIn(&r, &lanes[i]), &stream.SampleRow{Index: uint64(i)})
		}
		h := r.hand(nil)
		if known := len(h.samples.series); r.tracks != c.tracks || known != c.known {
			t.Errorf("samples %d to %d are of %d tracks, want %d, and %d are known, want %d", c.from, c.to-1, r.tracks, c.tracks, known, c.known)
		}
		found := 0
		for i := range h.samples.Series() {
			series := h.samples.Of(i)
			for _, row := range h.samples.Rows(i) {
				if found++; series != lanes[h.samples.rows[row].Index].series() {
					t.Errorf("a sample of track %d is said to be of %d", h.samples.rows[row].Index+1, series.Track)
				}
			}
		}
		if found != c.tracks {
			t.Errorf("of %d samples %d are found", c.tracks, found)
		}
		r.gathers = true
		r.reuse(h.samples)
	}
}

// Series that are gathered come in the order that was asked for, from the next hand-over on, and others after them. So it is if
// one of their lanes has become that of another track.
func TestArranged(t *testing.T) {
	lanes := make([]lane, 6)
	for i := range lanes {
		lanes[i].id = stream.TrackID(i + 1)
	}
	r := rows{gathers: true}
	gather := func() *gathered {
		for i := range lanes {
			r.gather(numberIn(&r, &lanes[i]), &stream.SampleRow{Index: uint64(lanes[i].id)})
		}
		h := r.hand(nil)
		r.gathers = true // though they are few
		for i := range h.samples.Series() {
			for _, row := range h.samples.Rows(i) {
				if of := h.samples.rows[row].Index; stream.TrackID(of) != h.samples.Of(i).Track {
					t.Errorf("a sample of track %d is said to be of %d", of, h.samples.Of(i).Track)
				}
			}
		}
		r.reuse(h.samples)
		return h.samples
	}
	for _, c := range []struct {
		replaced int // a lane becomes that of track 7
		want     []stream.TrackID
		ask      []int32
	}{
		{-1, []stream.TrackID{1, 2, 3, 4, 5, 6}, []int32{4, 2, 3}},
		{-1, []stream.TrackID{5, 3, 4, 1, 2, 6}, nil},
		{-1, []stream.TrackID{5, 3, 4, 1, 2, 6}, []int32{2, 0, 1}},
		{2, []stream.TrackID{4, 5, 3, 1, 2, 6, 7}, nil},
	} {
		if c.replaced >= 0 {
			lanes[c.replaced] = lane{id: 7}
		}
		g := gather()
		var got []stream.TrackID
		for i := range g.Series() {
			got = append(got, g.Of(i).Track)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("tracks %v, want %v", got, c.want)
		}
		if c.ask != nil {
			g.Arrange(c.ask)
		}
	}
}

// What another worker gathered in comes without its numbers.
func TestNumbersOfOthers(t *testing.T) {
	a, b, crew := rows{gathers: true}, rows{gathers: true}, workers{}
	l, other := &lane{id: 1}, &lane{id: 2}
	numberIn(&a, l)
	numberIn(&b, other)
	crew.giveBack(nil, a.hand(nil).samples)
	b.hand(nil)
	crew.refill(&b, 0)
	number := numberIn(&b, other)
	if series := b.gathered.series; len(series) != 1 || number != 0 || series[0] != other.series() {
		t.Errorf("number %d of %v, want that of track 2 alone", number, series)
	}
}

// A worker that takes rows finds their tracks while another one holds the tables to link a process, and does not wait for it.
func TestLanesWithoutTheTables(t *testing.T) {
	d := &dictionary{links: links{roots: []string{"root"}, linked: []string{"root"}}}
	d.tracks.put(1, d.keep([]byte("track")))
	w := worker{run: &run{tables: new(stream.Tables)}, job: job{process: &process{Input: Input{ID: 1}, dicts: map[uint32]*dictionary{0: d}}}, views: map[*dictionary]*view{}}
	w.run.tables.Lock()
	found := make(chan []*lane)
	go func() {
		w.view = w.viewOf(0)
		found <- []*lane{w.sampleLane(1, 1, stackLink{}), w.sampleLane(1, 0, stackLink{sid: 1})}
	}()
	select {
	case lanes := <-found:
		if a, b := lanes[0].id, lanes[1].id; a == 0 || b == 0 || a == b {
			t.Errorf("tracks %d and %d, want two", a, b)
		}
	case <-time.After(time.Minute):
		t.Fatal("a lane waits for the tables")
	}
	w.run.tables.Unlock()
}

// The number of a series is that of the lane that a sample has, whatever that depends on, also after a hand-over.
func TestNumberedLane(t *testing.T) {
	for grouping := ByTrack; grouping <= ByProcessor; grouping++ {
		w := worker{run: &run{tables: new(stream.Tables), grouping: grouping}, job: job{process: &process{Input: Input{ID: 1}}}, rows: rows{gathers: true}}
		w.view = &view{dict: &dictionary{links: links{roots: []string{"first", "second"}}}, lanes: map[trackKey]*lane{}, threads: map[uint64]*lane{}}
		w.view.main = w.lane(trackKey{"main", mainTrack})
		for id := range uint64(2) {
			w.view.dict.tracks.put(1+id, w.view.dict.keep([]byte{'a' + byte(id)}))
		}
		numbers := map[int32]*lane{}
		for range 3 {
			for i := range 64 {
				s := pendingSample{SampleRow: stream.SampleRow{Thread: int64(i % 3)}, track: uint64(i / 3 % 4), link: stackLink{stream.StackID(i / 12 % 3), int32(i / 12 % 2)}}
				want := w.sampleLane(uint64(s.Thread), s.track, s.link)
				w.pending[0], w.waiting = s, 1
				at := w.knownPlaces(nil)[0]
				got, number := at.lane, at.number
				if got == nil {
					got, number = w.numberedLane(&s)
				}
				if of := numbers[number]; got != want || of != nil && of != want || w.rows.gathered.series[number] != want.series() {
					t.Fatalf("grouping %d: %+v has the lane of track %d and number %d, want track %d", grouping, s, got.id, number, want.id)
				}
				numbers[number] = want
			}
			if n := len(w.rows.gathered.series); n != len(numbers) || n < 2 {
				t.Errorf("grouping %d: %d series have %d numbers", grouping, n, len(numbers))
			}
			w.rows.hand(nil)
			w.rows.gathers = true // though they are few
		}
	}
}

// Samples are gathered while there are many tracks.
func TestGathers(t *testing.T) {
	for _, c := range []struct{ series, gathered int }{{10, 0}, {manyTracks - 1, 0}, {manyTracks, 0}, {0, manyTracks - 1}, {3, manyTracks}} {
		r := rows{order: make([]*stream.Batch, c.series), gathers: c.gathered > 0}
		for i := range c.gathered {
			r.gather(numberIn(&r, &lane{id: stream.TrackID(i + 1)}), new(stream.SampleRow))
		}
		if r.hand(nil); r.gathers != (max(c.series, c.gathered) >= manyTracks) || r.tracks != c.gathered || r.count != 0 {
			t.Errorf("after %d series and %d tracks: gathers is %v, tracks %d, %d rows are left", c.series, c.gathered, r.gathers, r.tracks, r.count)
		}
	}
}
