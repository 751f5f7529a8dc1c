package shard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

var probe = Handle{Event: registry.Defined.Event(&registry.EventSpec{Name: "probe", Fields: []registry.FieldSpec{{Name: "n", Wire: rawformat.WireSint, Size: 8}}})}

// begin opens a recording of two processors that writes into the directory.
func begin(t *testing.T) (r *Recording, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), fmt.Sprintf("%016x", 7))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r = Open(Config{Instance: 7, Markers: true, Stacks: true})
	r.Settle()
	r.MakeShards(2, 6)
	files, err := ring.Open(folder.Dir(dir), ring.Options{Instance: r.Instance(), Pid: 1, ChunkFile: 64 << 10, Limit: 2 << 20, MinSpare: 4, Clock: r.Clock().Kind(), Anchor: r.Clock().Anchor})
	if err != nil {
		t.Fatal(err)
	}
	r.Use(files)
	r.SetDefined(registry.Defined.Count())
	t.Cleanup(func() {
		Current.Store(nil)
		r.Close()
		if err := files.Close(); err != nil && !errors.Is(err, ring.ErrInUse) {
			t.Error(err)
		}
	})
	maintain(t, r)
	return r, dir
}

func maintain(t *testing.T, r *Recording) {
	t.Helper()
	if err := r.ring.Maintain(); err != nil {
		t.Fatal(err)
	}
}

// kindsOf lists the kinds of all blocks of a recording.
func kindsOf(t *testing.T, dir string) (kinds []rawformat.Kind) {
	t.Helper()
	eachBlock(t, dir, func(b rawformat.Kind, _ chunks.Block) { kinds = append(kinds, b) })
	return kinds
}

func eachBlock(t *testing.T, dir string, f func(rawformat.Kind, chunks.Block)) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	for blocks := p.Blocks(func(p chunks.Problem) {
		if p.Class != chunks.Unproven { // because the recording goes on
			t.Error(p)
		}
	}); blocks.Next(); {
		b := blocks.Block()
		f(b.Kind, b)
	}
}

// The lock is one exchange: a second taker does not get it.
func TestAcquire(t *testing.T) {
	var r Recording
	r.shared, r.mask = make([]shard, 4), 1
	taken := map[*shard]bool{}
	for range 4 {
		taken[r.acquire(0)] = true
	}
	if len(taken) != 4 || taken[nil] {
		t.Errorf("took %d different shards of 4", len(taken))
	}
	if r.acquire(0) != nil || r.Lost(rawformat.LostBusy) != 1 {
		t.Error("a fifth shard, or no count of it")
	}
	atomic.StoreUint32(&r.shared[2].lock, 0)
	if r.acquire(1) != &r.shared[2] {
		t.Error("the free one was not found")
	}
}

// The shared shards are a power of two, and twice those that are a first choice.
func TestMakeShards(t *testing.T) {
	for writers := 1; writers <= MaxChoices; writers *= 2 {
		var r Recording
		r.MakeShards(writers, MaxChoices)
		if r.Choices() != writers || len(r.shared) != 2*writers || len(r.shards) != len(r.own)+len(r.shared) {
			t.Errorf("%d writers: %d shards, %d of processors, %d shared, %d first choices", writers, len(r.shards), len(r.own), len(r.shared), r.Choices())
		}
	}
}

const cacheLine = 64

// A store to a word slows all processors that read other words in its cache line. So the
// words that a marker reads share no line with words that change, and those that it stores
// to share none with words that another processor uses. Processors fetch lines in pairs.
func TestCacheLines(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		return // the assembly is for 64-bit processors
	}
	var read []string
	for f := range reflect.TypeFor[Recording]().Fields() {
		if f.Offset < 2*cacheLine {
			read = append(read, f.Name)
		}
	}
	if want := []string{"clock", "route", "goroutines", "own", "shared", "mask", "defined"}; !slices.Equal(read, want) {
		t.Errorf("beside what a marker reads: %v, want %v", read, want)
	}
	if n := unsafe.Sizeof(registry.Definition{}); n != 2*cacheLine {
		t.Errorf("a definition takes %d bytes, want %d: objects of that size lie at a pair of lines", n, 2*cacheLine)
	}
	if end := unsafe.Offsetof(registry.Definition{}.Plain); end > cacheLine {
		t.Errorf("a marker reads the first %d bytes of a definition, want one line", end)
	}
	last := unsafe.Offsetof(shard{}.sampled) + unsafe.Sizeof(sampledThread{})
	if gap := unsafe.Sizeof(shard{}) - last; gap < 2*cacheLine {
		t.Errorf("%d bytes between two shards, want a pair of lines", gap)
	}
}

// A marker whose shard can't have a chunk goes into a shared shard that has room. Once all are
// full it is counted as lost.
func TestNoChunkButRoom(t *testing.T) {
	r, dir := begin(t)
	full, other := &r.shared[0], &r.shared[3]
	if !other.tryLock() || r.ready(other, 10, context{}, r.clock.Now()) != other {
		t.Fatal("no chunk")
	}
	leave(other)
	for r.ring.Get(9, 1) != nil {
	}
	written := 0
	for m := (marker{d: probe.Event, kind: rawformat.KindInstant}); r.Lost(rawformat.LostNoChunk) == 0; written++ {
		if written > 64<<10 {
			t.Fatal("markers without end in one chunk")
		}
		if !full.tryLock() {
			t.Fatal("the shard was not given back")
		}
		m.now = r.clock.Now()
		s := r.readyForStack(full, m.size(0), m.of, m.now, nil)
		if s == nil {
			continue
		}
		if s != other {
			t.Fatalf("writer %d", s.writer)
		}
		s.marker(&m)
		leave(s)
	}
	n := 0
	eachBlock(t, dir, func(k rawformat.Kind, _ chunks.Block) {
		if k == rawformat.KindInstant {
			n++
		}
	})
	if n != written-1 || n < 1000 {
		t.Errorf("%d of %d markers", n, written-1)
	}
	if s := r.acquire(0); s != full {
		t.Error("the shard of a lost marker stays taken")
	} else {
		leave(s) // the end of the recording waits for it
	}
	if s := r.acquire(3); s == nil {
		t.Error("the shard without room stays taken")
	} else {
		leave(s)
	}
}

// A chunk of another dictionary has no room for a marker whose stack has an id.
func TestNoRoomInOtherGeneration(t *testing.T) {
	r, _ := begin(t)
	s, other := &r.shared[0], &r.shared[3]
	if !other.tryLock() || r.ready(other, 10, context{}, r.clock.Now()) != other {
		t.Fatal("no chunk")
	}
	leave(other)
	s.generation = 2
	for r.ring.Get(9, 2) != nil {
	}
	if !s.tryLock() || r.ready(s, 10, context{}, r.clock.Now()) != nil || r.Lost(rawformat.LostNoChunk) != 1 {
		t.Error("a marker went into a chunk of another dictionary")
	}
}

// A writer that was idle while others wrote a lot loses its chunk; one that writes keeps it.
func TestReleaseIdle(t *testing.T) {
	r, _ := begin(t)
	idle, busy := &r.shared[0], &r.shared[1]
	for _, s := range []*shard{idle, busy} {
		if !s.tryLock() || r.ready(s, 10, context{}, r.clock.Now()) != s {
			t.Fatal("no chunk")
		}
		leave(s)
	}
	const most = 256 << 10
	for begun := r.ring.RangeEnd(); r.ring.RangeEnd() < begun+most; maintain(t, r) {
		if !busy.tryLock() || !r.exchange(busy) {
			t.Fatal("no chunk")
		}
		leave(busy)
		r.ReleaseIdle(most)
		if busy.chunkStart.Load() == 0 {
			t.Fatal("a writer that is at work has lost its chunk")
		}
	}
	if r.ReleaseIdle(most / 2); idle.chunkStart.Load() != 0 {
		t.Error("an idle writer has its chunk")
	}
	if r.ReleaseIdle(0); !r.IsIdle() {
		t.Error("a writer has its chunk, and none should")
	}
}

// If idle writers have all chunks, a writer that needs one gets theirs.
func TestIdleWritersGiveWay(t *testing.T) {
	r, _ := begin(t)
	hungry := &r.shared[0]
	var kept []*ring.Chunk
	for n := 0; n < 3; { // until three rounds have made no chunk
		maintain(t, r)
		n++
		for c := r.ring.Get(99, 1); c != nil; c = r.ring.Get(99, 1) {
			kept, n = append(kept, c), 0
		}
	}
	for i := 1; i < len(r.shards); i++ { // the youngest chunks, so that no writer lags behind
		s := &r.shards[i]
		if s == hungry {
			continue
		}
		s.setChunk(kept[len(kept)-1])
		kept = kept[:len(kept)-1]
	}
	if hungry.tryLock(); r.refill(hungry) {
		t.Fatal("there was a chunk left")
	}
	leave(hungry)
	r.ReleaseIdle(1 << 40)
	maintain(t, r)
	if hungry.tryLock(); !r.refill(hungry) {
		t.Error("no chunk")
	}
	leave(hungry)
	for _, c := range kept {
		r.ring.Release(c)
	}
}

// A page restates its context even if a track's block comes first in it, which the reader
// checks, and a stack block lies in the page of its marker.
func TestPageBorders(t *testing.T) {
	r, dir := begin(t)
	track := registry.Defined.Track("border")
	s := &r.shared[0]
	raw := make([]uint64, 200)
	for i := range raw {
		raw[i] = uint64(i*i*i) << 20
	}
	const most = 1000
	for i := range most {
		maintain(t, r)
		if !s.tryLock() {
			t.Fatal("the shard is taken")
		}
		m := marker{d: probe.Event, kind: rawformat.KindInstant, now: r.clock.Now()}
		pcs := raw[:i%len(raw)]
		if i%2 == 0 {
			m.of.track = track.ID
		}
		if len(pcs) > 0 {
			m.stack = 1
		}
		if r.readyForStack(s, m.size(len(pcs)), m.of, m.now, pcs) != s {
			t.Fatal("no room")
		}
		s.marker(&m)
		leave(s)
	}
	page, markers := uint32(noPage), 0
	eachBlock(t, dir, func(k rawformat.Kind, b chunks.Block) {
		switch k {
		case rawformat.KindStack:
			page = b.Offset >> pageShift
		case rawformat.KindInstant:
			b.Fields.Uint("event")
			if b.Fields.Uint("stack") == 1 && page != b.Offset>>pageShift {
				t.Fatalf("marker at page %d, its stack at page %d", b.Offset>>pageShift, page)
			}
			markers++
		default:
			page = noPage
		}
	})
	if markers != most {
		t.Errorf("%d markers, want %d", markers, most)
	}
}

// Blocks that are written together lie in one chunk, wherever that begins; and a block whose
// content is in that chunk already is not written again.
func TestWriteTogether(t *testing.T) {
	r, dir := begin(t)
	const most = 3000
	said := uint64(0)
	for i := range most {
		maintain(t, r)
		now := r.clock.Now()
		index, ok := r.Write(WaitUncounted,
			Block{Kind: rawformat.KindPage, Time: now, Fields: []uint64{1, 1, 0, 0}, Text: fmt.Sprintf("%0*d", i%1000, i), HasText: true, Previous: said},
			Block{Kind: rawformat.KindPageEnd, Time: now, Fields: []uint64{1}})
		if !ok {
			t.Fatal("no shard")
		}
		if index != 0 {
			said = index
		}
		if i%7 == 0 {
			said = 0
		}
	}
	last, pages, ends := map[uint64]bool{}, 0, 0
	eachBlock(t, dir, func(k rawformat.Kind, b chunks.Block) {
		switch k {
		case rawformat.KindPage:
			last[b.Chunk.Header.RangeStart] = true
			pages++
		case rawformat.KindPageEnd:
			if ends++; !last[b.Chunk.Header.RangeStart] {
				t.Fatalf("the end of a page in chunk %d, which does not say what the page is", b.Chunk.Header.RangeStart)
			}
		}
	})
	if ends != most || pages < most/7 || pages > most/3 {
		t.Errorf("%d pages, %d ends; want %d to %d, %d", pages, ends, most/7, most/3, most)
	}
}

// An idle thread's sample is repeated if it lies in the same chunk, stated anew if its stack
// has an id there, and forgotten otherwise.
func TestIdleInAnotherChunk(t *testing.T) {
	r, dir := begin(t)
	now := r.clock.Now()
	w := r.awaitShard()
	if r.ready(w, sampleRoom, context{}, now) != w {
		t.Fatal("no chunk")
	}
	here, generation := w.chunk.Epoch(), w.generation
	leave(w)
	other := here + 7 // 0 would mean none
	seen := func(stack, epoch uint64, generation uint16) LastSample {
		return LastSample{at: now, stack: stack, thread: 7, goroutine: 8, epoch: epoch, generation: generation}
	}
	for _, test := range []struct {
		last  LastSample
		want  rawformat.Kind
		epoch uint64 // of the chunk that it is in then
	}{
		{seen(3, here, generation), rawformat.KindIdle, here},
		{seen(RawStack, here, generation), rawformat.KindIdle, here},
		{seen(3, other, generation), rawformat.KindSample, here},
		{seen(RawStack, other, generation), 0, 0},
		{seen(3, other, generation-1), 0, 0},
	} {
		before := kindsOf(t, dir)
		r.Idle(&test.last, now+1000)
		after := kindsOf(t, dir)
		for _, k := range before {
			if i := slices.Index(after, k); i >= 0 {
				after = slices.Delete(after, i, i+1)
			}
		}
		if test.last.epoch != test.epoch || test.want == 0 && len(after) > 0 || test.want != 0 && !slices.Equal(after, []rawformat.Kind{test.want}) {
			t.Errorf("%v were written, and the last one is in chunk %d; want %d, %d", after, test.last.epoch, test.want, test.epoch)
		}
	}
}

// A marker that loaded the early recording and then lost its thread for long is either in
// the recording that took over, or counted as lost.
func TestLateEarlyMarkers(t *testing.T) {
	OpenEarly(9)
	e := early.Load()
	made := 0
	late := func() {
		e.mark(probe, rawformat.KindInstant, e.clock.Now(), 0, Pack(made), Arg{}, nil)
		made++
	}
	late() // this one is in time
	r, dir := begin(t)
	if r.Instance() != 9 {
		t.Errorf("instance %d, want the early one's", r.Instance())
	}
	r.ReplayEarly()
	late()
	r.ReplayLate()
	r.begun -= rt.Time(2e9)
	for n := 0; r.Lost(rawformat.LostBusy) == 0; n++ {
		if n > 1000 {
			t.Fatalf("%d markers got into shards that nobody looks after", made)
		}
		late()
		r.ReplayLate()
	}
	found := 0
	eachBlock(t, dir, func(k rawformat.Kind, _ chunks.Block) {
		if k == rawformat.KindInstant {
			found++
		}
	})
	if lost := int(r.Lost(rawformat.LostBusy)); found+lost != made || found < 2 {
		t.Errorf("%d markers found, %d lost, %d were made", found, lost, made)
	}
}

// New stacks wait for the keeper, as long as there is room.
func TestFreshStacks(t *testing.T) {
	r, _ := begin(t)
	for i := range 2 * pendingSlots {
		r.pending.submit([]uintptr{uintptr(i + 1)})
	}
	if r.pending.n != pendingSlots {
		t.Errorf("%d stacks wait, want %d", r.pending.n, pendingSlots)
	}
	if r.pending.take(&r.interning); r.pending.n != 0 || r.interning.n != pendingSlots || r.interning.calls[5][0] != 6 {
		t.Errorf("%d stacks were taken, %d are left", r.interning.n, r.pending.n)
	}
	if r.AddStack([]uintptr{5}, 3); r.FindStack([]uintptr{5}) != 3 || r.FindStack([]uintptr{6}) != 0 {
		t.Error("a stack has not the id that it was given")
	}
	if r.BeginGeneration(2); r.FindStack([]uintptr{5}) != 0 {
		t.Error("a stack has an id of the last generation")
	}
}

// A goroutine that loses its processor as it passes the function in which it began does not
// keep others from passing theirs: each may be met only once.
func TestRootsAreNotKeptBack(t *testing.T) {
	var r Recording
	r.roots.news[0].state.Store(taken)
	for start := range uint64(pendingSlots - 1) {
		r.roots.submit(start+1, 1, nil)
	}
	for i := range r.roots.news[1:] {
		if b := &r.roots.news[i+1]; b.state.Load() != passed || b.start != uint64(i+1) || b.n == 0 {
			t.Errorf("slot %d: state %d, start %d, %d calls", i+1, b.state.Load(), b.start, b.n)
		}
	}
	r.roots.submit(pendingSlots, 1, nil) // finds no room
	if r.isUnwantedRoot(1, 1) || r.roots.news[0].start != 0 {
		t.Error("a slot was taken twice")
	}
}

// A goroutine whose stack is too deep to be walked to its end, and that is not recorded, is asked about once in a round
// of the keeper, not at each of its markers. Others that began in the same function are asked about themselves.
func TestDeepUnwanted(t *testing.T) {
	r, dir := begin(t)
	if r.starts == 0 {
		t.Skip("markers don't tell where goroutines began")
	}
	asked := 0
	r.wants = func(string) bool { asked++; return false }
	Current.Store(r)
	mark := func() { probe.Record(rawformat.KindInstant, Arg{}, Arg{}, nil) }
	var below func(calls int)
	below = func(calls int) {
		if calls > 0 {
			below(calls - 1)
			return
		}
		for round := range 3 {
			for range 100 {
				mark()
			}
			if asked != round+1 {
				t.Errorf("asked %d times in %d rounds of the keeper", asked, round+1)
			}
			r.NameRoots(nil)
		}
		if allocs := testing.AllocsPerRun(100, mark); allocs >= 1 {
			t.Errorf("a marker allocates %.0f times", allocs)
		}
	}
	for range 2 {
		asked = 0
		done := make(chan bool)
		go func() { defer close(done); below(2 * deepest) }()
		<-done
	}
	if kinds := kindsOf(t, dir); len(kinds) > 0 {
		t.Errorf("recorded %v", kinds)
	}
}
