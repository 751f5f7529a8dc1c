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

// begin makes a recording of two processors that writes into the directory.
func begin(t *testing.T) (r *Recording, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), fmt.Sprintf("%016x", 7))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r = Open(Config{Instance: 7, Markers: true, Stacks: true})
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

// kindsOf are those of all blocks of a recording.
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
		if p.Class != chunks.Unproven { // for the recording goes on
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

// A word that is stored to costs all who read its neighbours in the cache line, on each
// processor. So what a marker reads has no neighbours that change, and what it stores to
// has none that another processor uses. Processors fetch lines in pairs.
func TestCacheLines(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		return // processors of 64 bits are those that the assembly is for
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

// A writer that has been idle while others wrote much loses its chunk; one that writes
// keeps it.
func TestReleaseIdle(t *testing.T) {
	r, _ := begin(t)
	idle, busy := &r.shared[0], &r.shared[1]
	for _, s := range []*shard{idle, busy} {
		if !s.try() || !r.turn(s, 10, who{}, r.clock.Now()) {
			t.Fatal("no chunk")
		}
		leave(s)
	}
	const most = 256 << 10
	for begun := r.ring.RangeEnd(); r.ring.RangeEnd() < begun+most; maintain(t, r) {
		if !busy.try() || !r.exchange(busy) {
			t.Fatal("no chunk")
		}
		leave(busy)
		r.ReleaseIdle(most)
		if busy.lag.Load() == 0 {
			t.Fatal("a writer that is at work has lost its chunk")
		}
	}
	if r.ReleaseIdle(most / 2); idle.lag.Load() != 0 {
		t.Error("an idle writer has its chunk")
	}
	if r.ReleaseIdle(0); !r.IsIdle() {
		t.Error("a writer has its chunk, and none should")
	}
}

// Where idle writers have all chunks, one that has work gets theirs.
func TestIdleWritersGiveWay(t *testing.T) {
	r, _ := begin(t)
	hungry := &r.shared[0]
	var kept []*ring.Chunk
	for n := 0; n < 3; { // until three rounds made none
		maintain(t, r)
		n++
		for c := r.ring.Get(99, 1); c != nil; c = r.ring.Get(99, 1) {
			kept, n = append(kept, c), 0
		}
	}
	for i := 1; i < len(r.shards); i++ { // the youngest, of which no writer lags behind
		s := &r.shards[i]
		if s == hungry {
			continue
		}
		s.hold(kept[len(kept)-1])
		kept = kept[:len(kept)-1]
	}
	if hungry.try(); r.refill(hungry) {
		t.Fatal("there was a chunk left")
	}
	leave(hungry)
	r.ReleaseIdle(1 << 40)
	maintain(t, r)
	if hungry.try(); !r.refill(hungry) {
		t.Error("no chunk")
	}
	leave(hungry)
	for _, c := range kept {
		r.ring.Release(c)
	}
}

// A page's context is restated when a track's block comes first in it, and a
// stack block stands in the page of its marker. The reader checks the former.
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
		if !s.try() {
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
		if !r.turnWithStack(s, m.size(len(pcs)), m.of, m.now, pcs) {
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

// Blocks that are written together lie in one chunk, wherever that begins; and what was
// said in it is not said again.
func TestWriteTogether(t *testing.T) {
	r, dir := begin(t)
	const most = 3000
	said := uint64(0)
	for i := range most {
		maintain(t, r)
		now := r.clock.Now()
		index, ok := r.Write(Repeated,
			Block{Kind: rawformat.KindPage, Time: now, Fields: []uint64{1, 1, 0, 0}, Text: fmt.Sprintf("%0*d", i%1000, i), Texted: true, Said: said},
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

// What is repeated lies in the chunk of the sample, or is stated anew, or forgotten.
func TestIdleInAnotherChunk(t *testing.T) {
	r, dir := begin(t)
	now := r.clock.Now()
	w := r.acquireAny()
	if !r.turn(w, sampleRoom, who{}, now) {
		t.Fatal("no chunk")
	}
	here, generation := w.chunk.Epoch(), w.generation
	leave(w)
	other := here + 7 // 0 would be none
	seen := func(stack, epoch uint64, generation uint16) Seen {
		return Seen{at: now, stack: stack, thread: 7, goroutine: 8, epoch: epoch, generation: generation}
	}
	for _, test := range []struct {
		last  Seen
		want  rawformat.Kind
		epoch uint64 // that it is in then
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

// A marker that found the recording before Start and lost its thread for long is in
// the one that took over, or counted: none is lost without a word.
func TestInheritLate(t *testing.T) {
	OpenEarly(9)
	e := early.Load()
	made := 0
	late := func() {
		e.mark(probe, rawformat.KindInstant, e.clock.Now(), 0, Pack(made), Arg{}, nil)
		made++
	}
	late() // in time, however late the next one is
	r, dir := begin(t)
	if r.Instance() != 9 {
		t.Errorf("instance %d, want the early one's", r.Instance())
	}
	r.Inherit()
	late()
	r.InheritLate()
	r.begun -= rt.Time(2e9)
	for n := 0; r.Lost(rawformat.LostBusy) == 0; n++ {
		if n > 1000 {
			t.Fatalf("%d markers got into shards that nobody looks after", made)
		}
		late()
		r.InheritLate()
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

// A stack that is new waits for the keeper, as long as there is room.
func TestFreshStacks(t *testing.T) {
	r, _ := begin(t)
	for i := range 2 * pendingSlots {
		r.fresh.submit([]uintptr{uintptr(i + 1)})
	}
	if r.fresh.n != pendingSlots {
		t.Errorf("%d stacks wait, want %d", r.fresh.n, pendingSlots)
	}
	if r.fresh.take(&r.taken); r.fresh.n != 0 || r.taken.n != pendingSlots || r.taken.calls[5][0] != 6 {
		t.Errorf("%d stacks were taken, %d are left", r.taken.n, r.fresh.n)
	}
	if r.AddStack([]uintptr{5}, 3); r.FindStack([]uintptr{5}) != 3 || r.FindStack([]uintptr{6}) != 0 {
		t.Error("a stack has not the id that it was given")
	}
	if r.BeginGeneration(2); r.FindStack([]uintptr{5}) != 0 {
		t.Error("a stack has an id of the last generation")
	}
}
