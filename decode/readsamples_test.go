package decode

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

// sampleBlocks are random blocks of samples: integers of any length, fields that are missing or more than known, other kinds.
func sampleBlocks(random *rand.Rand) (data []byte) {
	kinds := []rawformat.Kind{rawformat.KindSample, rawformat.KindSameSample, rawformat.KindBusy, rawformat.KindBusyFor}
	usual := random.IntN(4) > 0
	for range 1 + random.IntN(60) {
		kind := kinds[random.IntN(len(kinds))]
		if random.IntN(8) == 0 {
			kind = []rawformat.Kind{rawformat.KindSampling, rawformat.KindIdle}[random.IntN(2)]
		}
		body := []byte{byte(kind)}
		for range rawformat.Kinds[kind].Fields {
			if !usual && random.IntN(10) == 0 {
				body = appendUnusual(body, random)
			} else {
				body = rawformat.AppendUint(body, random.Uint64()>>(64-[]int{2, 7, 14, 28}[random.IntN(4)]))
			}
		}
		if !usual && random.IntN(10) == 0 {
			body = body[:1+random.IntN(len(body))]
		}
		if !usual && random.IntN(10) == 0 {
			body = append(body, make([]byte, random.IntN(200))...)
		}
		data = rawformat.AppendBlock(data, body)
	}
	return data
}

// appendUnusual appends an integer of any length: at the end of those of so many bits, or with bytes that add nothing.
func appendUnusual(body []byte, random *rand.Rand) []byte {
	if random.IntN(2) == 0 {
		return rawformat.AppendUint(body, 1<<(7*random.IntN(10))-uint64(random.IntN(2)))
	}
	for range random.IntN(11) {
		body = append(body, 0x80|byte(random.Uint32()>>random.IntN(8)))
	}
	return append(body, byte(random.IntN(oneByte)))
}

// sampleWorker is a worker that only takes samples apart. A stack block was right before the entry at next.
func sampleWorker(next uint64) *worker {
	p := &process{}
	return &worker{run: &run{tables: new(stream.Tables)}, job: job{process: p}, labels: 3, tick: 1 << 40,
		stack: inlineStackRef{link: stackLink{sid: 5, root: 2}, next: next}, sampling: sampling{period: 10_000_000, thread: 7, track: 2}}
}

// usual reads usual samples, and returns where they end.
func (w *worker) usual(u *chunks.Run, at int) int {
	if read := sampleReaders[u.Data[at+1]]; read != nil {
		return read(w, u, at)
	}
	return at
}

// strictly1 decodes the entry at at strictly, and returns where it ends.
func (w *worker) strictly1(u *chunks.Run, at int) int {
	n, width, _ := rawformat.ReadUint(u.Data[at:])
	body := at + width
	w.index = u.Index + uint64(at)
	at = body + int(n)
	w.next = u.Index + uint64(at)
	w.strictly(rawformat.Kind(u.Data[body]), rawformat.NewCursor(u.Data[body+1:at], int64(body)))
	return at
}

// Samples that are read as usual ones are what they are when they are read strictly.
func TestReadSamples(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	taken, left := 0, 0
	for range 3000 {
		data := sampleBlocks(random)
		slack := bytes.Repeat([]byte{byte(0xff * random.IntN(2))}, rawformat.Slack)
		u := &chunks.Run{Index: 1000, Data: append(data, slack...)[:len(data)]}
		next := uint64(1000 + random.IntN(len(data)))
		want, got := sampleWorker(next), sampleWorker(next)
		for at := 0; at < len(data); {
			at = want.strictly1(u, at)
		}
		for at := 0; at < len(data); {
			before := got.waiting
			at = got.usual(u, at)
			if taken += int(got.waiting - before); at < len(data) {
				at = got.strictly1(u, at)
				left++
			}
		}
		for _, w := range []*worker{want, got} {
			for i := range w.pending { // not known yet
				w.pending[i].Time, w.pending[i].Stack = 0, 0
			}
		}
		if got.waiting != want.waiting || got.tick != want.tick || got.sampling != want.sampling {
			t.Fatalf("% x became %d samples until %d and %+v, want %d until %d and %+v", data, got.waiting, got.tick, got.sampling, want.waiting, want.tick, want.sampling)
		}
		for i, s := range got.pending[:got.waiting] {
			if s != want.pending[i] {
				t.Fatalf("% x: sample %d is\n%+v, want\n%+v", data, i, s, want.pending[i])
			}
		}
	}
	if taken < 30_000 || left < 3_000 {
		t.Errorf("%d samples were usual, %d entries not", taken, left)
	}
}

// Samples that wait are as many as fit; there may be more of them in a run, of either way.
func TestMoreSamplesThanWait(t *testing.T) {
	for _, unusual := range []int{1, 2, 200} {
		w, data := sampleWorker(0), []byte{}
		w.rows = rows{pending: map[stream.Series]*stream.Batch{}}
		w.view = &view{dict: &dictionary{}, lanes: map[trackKey]*lane{}}
		w.view.dict.tracks.put(1, w.view.dict.keep([]byte("main")))
		w.last.clear()
		for i := range 200 {
			cpu := uint64(5)
			if i%unusual == 0 {
				cpu = 1 << 40
			}
			body := []byte{byte(rawformat.KindSample), 2, 5, 1, 1, 0, 1}
			data = rawformat.AppendBlock(data, append(rawformat.AppendUint(body, cpu), 0))
		}
		w.decode(&chunks.Run{Index: 1000, Data: append(data, make([]byte, rawformat.Slack)...)[:len(data)]})
		b := w.rows.hand(nil).batches[0]
		if b.Len() != 200 || !slices.IsSorted(b.Index) || !slices.IsSorted(b.Time) || w.tick != 1<<40+200 {
			t.Errorf("one of %d is unusual: %d samples, until tick %d, want 200 until %d", unusual, b.Len(), w.tick, 1<<40+200)
		}
	}
}

// What the recorder writes is usual: also samples of Go's profile, which stand for a second, and ids of a program that has run
// for long.
func TestUsualSamples(t *testing.T) {
	const second, thread, goroutine, stack = 1_000_000_000, 4_194_303, 1 << 36, 200_000
	for kind, fields := range map[rawformat.Kind][]uint64{
		rawformat.KindSample:     {2 * second, thread, goroutine, 300, stack, 6_400, 64 * second, second},
		rawformat.KindSameSample: {2 * second, thread, goroutine, 6_400, 64 * second},
		rawformat.KindBusy:       {20_000, thread, goroutine, stack},
		rawformat.KindBusyFor:    {20_000, thread, goroutine, stack, 20_000},
	} {
		body := []byte{byte(kind)}
		for _, v := range fields {
			body = rawformat.AppendUint(body, v)
		}
		data := rawformat.AppendBlock(nil, body)
		w, u := sampleWorker(0), &chunks.Run{Index: 1000, Data: append(data, make([]byte, rawformat.Slack)...)[:len(data)]}
		if at := w.usual(u, 0); at != len(data) || w.waiting != 1 {
			t.Errorf("%s is left to the reader of all kinds", rawformat.Kinds[kind].Name)
		}
	}
}

// A stack block is that of the next entry only, also if usual samples come in between.
func TestStackBlockBeforeUsualSamples(t *testing.T) {
	inline := rawformat.AppendBlock(nil, []byte{byte(rawformat.KindSample), 2, 1, 1, 1, inlineStack, 1, 0, 0})
	usual := rawformat.AppendBlock(nil, []byte{byte(rawformat.KindSample), 2, 1, 1, 1, 9, 1, 0, 0})
	for _, c := range []struct {
		data []byte
		want stackLink
	}{{inline, stackLink{5, 2}}, {append(slices.Clone(usual), inline...), stackLink{}}} {
		w := sampleWorker(1000)
		u := &chunks.Run{Index: 1000, Data: append(c.data, make([]byte, rawformat.Slack)...)[:len(c.data)]}
		at := w.usual(u, 0)
		if at != len(c.data)-len(inline) {
			t.Fatalf("%d bytes were read as usual samples", at)
		}
		w.strictly1(u, at)
		if link := w.pending[w.waiting-1].link; link != c.want {
			t.Errorf("a sample has the stack %v, want %v", link, c.want)
		}
	}
}

// Samples reach the batches of their lanes, through buffers or not, and those of two lanes of one series the same batch.
func TestSampleBuffers(t *testing.T) {
	random, want := rand.New(rand.NewPCG(10, 11)), map[stream.Series][]uint64{}
	lanes := make([]lane, 2*manyTracks)
	for i := range lanes {
		lanes[i] = lane{process: 1, id: stream.TrackID(1 + i/2)}
	}
	r := rows{pending: map[stream.Series]*stream.Batch{}, most: math.MaxInt32}
	for round := range 3 {
		clear(want)
		for i := range uint64(20_000) {
			l := &lanes[random.IntN(len(lanes)>>round)]
			r.addSample(l, &stream.SampleRow{Index: i, Thread: int64(i % 2)})
			want[l.series()] = append(want[l.series()], i)
		}
		if n := len(r.buffers) + len(r.spareBuffers); n > manyTracks || r.count != 20_000 {
			t.Errorf("round %d: %d buffers, %d rows", round, n, r.count)
		}
		h := r.hand(nil)
		r.gathers = false
		for _, b := range h.batches {
			slices.Sort(b.Index)
			if err := b.Check(); err != nil || !slices.Equal(b.Index, want[b.Series]) {
				t.Errorf("round %d: %d rows of %v, want %d: %v", round, b.Len(), b.Series, len(want[b.Series]), err)
			}
			delete(want, b.Series)
		}
		if len(want) > 0 {
			t.Errorf("round %d: %d series are missing", round, len(want))
		}
	}
}

// Each sample of a track that is not defined is noted, however its track is looked up.
func TestUndefinedTracks(t *testing.T) {
	for _, gathers := range []bool{false, true} {
		w := sampleWorker(0)
		w.rows = rows{pending: map[stream.Series]*stream.Batch{}, gathers: gathers}
		w.view = &view{dict: &dictionary{}, lanes: map[trackKey]*lane{}}
		w.view.dict.tracks.put(1, w.view.dict.keep([]byte("known")))
		w.last.clear()
		for range 3 {
			for _, track := range []uint64{9, 9, 1, 1} {
				*w.wait(5, 0) = pendingSample{SampleRow: stream.SampleRow{Thread: 5}, track: track}
			}
			w.addSamples()
		}
		w.flushNotes()
		lines := w.run.tables.Ledger.Lines()
		if len(lines) != 1 || lines[0].Reason != stream.ReasonUndefined || lines[0].What != "tracks" || lines[0].Count != 6 {
			t.Errorf("gathers %v: the ledger has %+v, want 6 undefined tracks", gathers, lines)
		}
		if h := w.rows.hand(nil); h.samples == nil && len(h.batches) != 2 {
			t.Errorf("%d batches, want two", len(h.batches))
		}
	}
}
