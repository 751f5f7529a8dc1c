package recorder

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/record"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

var probeEvent = NewEvent1("probe", Int("n"))

// deep calls f below n frames more.
//
//go:noinline
func deep(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
	runtime.KeepAlive(n)
}

func beginInternal(t testing.TB, o Options) *Recorder {
	t.Helper()
	o.Dir = t.TempDir()
	if o.CounterHz == 0 {
		o.CounterHz = -1
	}
	r, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Stop() })
	return r
}

// losses reads what a recording says was lost, by reason.
func losses(t *testing.T, dir string) map[rawformat.LostReason]uint64 {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	lost := map[rawformat.LostReason]uint64{}
	for blocks := p.Blocks(func(p chunks.Problem) { t.Error(p) }); blocks.Next(); {
		if b := blocks.Block(); b.Kind == rawformat.KindLost {
			b.Fields.Sint("time")
			reason := rawformat.LostReason(b.Fields.Uint("reason"))
			lost[reason] += b.Fields.Uint("count")
		}
	}
	return lost
}

func claimAll(r *Recorder) {
	for i := range r.shards {
		r.claimFinally(&r.shards[i], rt.Now())
	}
}

func disclaimAll(r *Recorder) {
	for i := range r.shards {
		disclaim(&r.shards[i])
	}
}

// A marker that finds every shard taken is dropped at once, and counted.
func TestBusyShards(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	claimAll(r)
	for range 5 {
		probeEvent.Mark(1)
	}
	if n := r.lost[rawformat.LostBusy].count.Load(); n < 5 {
		t.Errorf("%d markers counted, want 5", n)
	}
	disclaimAll(r)
	r.Stop()
	if lost := losses(t, r.dir); lost[rawformat.LostBusy] < 5 {
		t.Errorf("recording says %v, want 5 busy", lost)
	}
}

// takeAll takes all chunks that the ring has room for. Nobody else may want one.
func takeAll(r *Recorder) (taken []*chunks.Chunk) {
	for {
		r.maintainRing()
		before := len(taken)
		for c := r.ring.Get(99, 1); c != nil; c = r.ring.Get(99, 1) {
			taken = append(taken, c)
		}
		if len(taken) == before {
			return taken
		}
	}
}

// Where there is no chunk, markers are dropped and counted, and the count is
// written when there is room again.
func TestNoChunk(t *testing.T) {
	r := beginInternal(t, Options{Limit: 1 << 20, ChunkSize: 64 << 10})
	dismiss(r) // how many chunks it would give up for the dictionary and for rings is its business
	claimAll(r)
	for i := range r.shards {
		r.retire(&r.shards[i])
	}
	taken := takeAll(r)
	disclaimAll(r)
	probeEvent.Mark(1)
	if r.lost[rawformat.LostNoChunk].count.Load() == 0 {
		t.Fatal("nothing counted")
	}
	for _, c := range taken {
		r.ring.Release(c)
	}
	r.Stop()
	if lost := losses(t, r.dir); lost[rawformat.LostNoChunk] != r.lost[rawformat.LostNoChunk].count.Load() {
		t.Errorf("recording says %v, want %d for want of chunks", lost, r.lost[rawformat.LostNoChunk].count.Load())
	}
}

// A full dictionary stops definitions, not the recording.
func TestFullDictionary(t *testing.T) {
	r := beginInternal(t, Options{Limit: 1 << 20, ChunkSize: 64 << 10})
	r.turning.Lock() // no new generation
	defer r.turning.Unlock()
	for i := 0; !r.dict.IsFull(); i++ {
		r.dict.Define(record.New(rawformat.KindDefString).Uint(uint64(i + 1)).Text(strings.Repeat("x", 1000)))
	}
	if size, limit := r.dict.Size(), int64(1<<20/dictShare); size > limit {
		t.Errorf("dictionary of %d bytes, want at most %d", size, limit)
	}
	late := NewEvent("late")
	late.Mark()
	probeEvent.Mark(1)
	if id := r.dict.Stack([]dict.Frame{{PC: 1}}); id != 0 {
		t.Errorf("stack has id %d in a full dictionary", id)
	}
	r.Stop()
	if lost := losses(t, r.dir); lost[rawformat.LostDictionary] < 2 {
		t.Errorf("recording says %v, want the definition and the marker of late", lost)
	}
}

// A bug of the keeper ends the recording; the host lives on, and Stop
// still writes what there is.
func TestPanicOfTheKeeper(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	probeEvent.Mark(1)
	r.employ(func() { panic("test") })
	for r.Err() == nil {
		runtime.Gosched()
	}
	if r.Recording() {
		t.Error("records after a panic")
	}
	r.Resume()
	probeEvent.Mark(2)
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	p, err := chunks.OpenProcess(os.DirFS(r.session), filepath.Base(r.dir))
	if err != nil {
		t.Fatal(err)
	}
	if p.Exit == nil || p.Exit.Text != "internal error: test" {
		t.Errorf("exit %+v, want the panic in it", p.Exit)
	}
}

// After a bug Stop does not wait for a shard whose holder is gone: its chunk
// stays mapped.
func TestStopAfterPanicWithLock(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	r.employ(func() {
		s := r.acquirePatiently()
		r.prepare(s, 10, who{}, r.clock.Now())
		panic("test")
	})
	for r.Err() == nil {
		runtime.Gosched()
	}
	if err := r.Stop(); !errors.Is(err, chunks.ErrInUse) {
		t.Errorf("%v, want %v", err, chunks.ErrInUse)
	}
}

// However many shards' holders are gone, Stop waits once.
func TestStopWaitsOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(32))
	r := beginInternal(t, Options{Limit: 32 << 20, CPU: CPUOff})
	for r.acquireAny() != nil { // nobody gives them back
	}
	r.fail(errors.New("test"))
	begun := rt.Now()
	if err := r.Stop(); err != nil && !errors.Is(err, chunks.ErrInUse) {
		t.Fatal(err)
	}
	if took, each := time.Duration(rt.Now()-begun), patience*time.Duration(len(r.shared)); took > each/2 {
		t.Errorf("%v for %d shards, which is %v for each", took, len(r.shared), each/time.Duration(len(r.shared)))
	}
}

// What Resume stores after a failure does not count.
func TestResumeAfterFailure(t *testing.T) {
	for range 200 {
		r := beginInternal(t, Options{Limit: 1 << 20})
		r.Pause()
		r.employ(func() { panic("test") })
		r.Resume()
		for r.Err() == nil {
			runtime.Gosched()
		}
		for r.Recording() { // fail may still be about to clear it
			runtime.Gosched()
		}
		r.Stop()
	}
}

// What is lost until Stop is told; that it can't be told yet adds nothing.
func TestLossesAtTheEnd(t *testing.T) {
	r := beginInternal(t, Options{Limit: 1 << 20, ChunkSize: 64 << 10})
	close(r.quit) // the keeper would lose blocks of its own
	r.crew.Wait()
	r.quit = make(chan struct{})
	claimAll(r)
	probeEvent.Mark(1)
	want := r.lost[rawformat.LostBusy].count.Load()
	r.writeLosses()
	if n := r.lost[rawformat.LostBusy].count.Load(); n != want {
		t.Errorf("%d losses, want the marker's %d", n, want)
	}
	disclaimAll(r)
	r.Stop()
	if lost := losses(t, r.dir); lost[rawformat.LostBusy] != want {
		t.Errorf("recording says %v, want %d busy", lost, want)
	}
}

// A writer that has been idle while others filled half the ring loses its chunk.
func TestLaggards(t *testing.T) {
	r := beginInternal(t, Options{Limit: 1 << 20, ChunkSize: 64 << 10})
	idle := &r.shards[len(r.shards)-1]
	r.claimFinally(idle, rt.Now())
	if !r.prepare(idle, 10, who{}, r.clock.Now()) {
		t.Fatal("no chunk")
	}
	first := idle.lag.Load()
	disclaim(idle)
	for deadline := rt.Now() + rt.Time(time.Minute); r.ring.RangeStart() <= first; { // its chunk can go
		probeEvent.Mark(1) // by way of other shards
		if rt.Now() > deadline {
			t.Fatal("the chunk is kept")
		}
	}
}

// A page's context is restated when a track's block comes first in it, and a
// stack block stands in the page of its marker. The reader checks the former.
func TestPageBorders(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	track := registry.Defined.Track("border")
	s := &r.shared[0]
	raw := make([]uint64, 200)
	for i := range raw {
		raw[i] = uint64(i*i*i) << 20
	}
	for i := range 3000 {
		for r.ring.Low() { // give the keeper time to make chunks
			r.nap.Wake()
			runtime.Gosched()
		}
		r.claimFinally(s, rt.Now())
		m := marker{d: probeEvent.d, kind: markInstant, now: r.clock.Now()}
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
		disclaim(s)
	}
	r.Stop()
	p, err := chunks.OpenProcess(os.DirFS(r.session), filepath.Base(r.dir))
	if err != nil {
		t.Fatal(err)
	}
	page, markers := uint32(noPage), 0
	for blocks := p.Blocks(func(p chunks.Problem) { t.Error(p) }); blocks.Next(); {
		switch b := blocks.Block(); b.Kind {
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
	}
	if markers != 3000 {
		t.Errorf("%d markers, want 3000", markers)
	}
}

// Names without end define nothing, and lose nothing.
func TestTooManyNames(t *testing.T) {
	const many = 200_000
	defer registry.Defined.Sandbox(nil)() // else they would take room in the dictionaries of all tests that follow
	r := beginInternal(t, Options{Limit: 16 << 20, CPU: CPUOff, HeapEvery: -1})
	<-r.mapped // what is in the dictionary besides names is there
	size := r.dict.Size()
	for i := range many {
		Mark("name " + strconv.Itoa(i))
		if i == 2*registry.MaxNames {
			size = r.dict.Size()
		}
	}
	if now := r.dict.Size(); now > size+32<<10 {
		t.Errorf("dictionary grew from %d to %d bytes", size, now)
	}
	r.Stop()
	if lost := losses(t, r.dir); lost[rawformat.LostDictionary] > 0 {
		t.Errorf("lost %v", lost)
	}
}

func TestDivide(t *testing.T) {
	for _, tt := range []struct {
		limit     int64
		chunk     int
		wantSize  int
		wantError bool
	}{
		{64 << 20, 256 << 10, 256 << 10, false},
		{64 << 20, 1 << 20, 1 << 20, false},
		{1 << 20, 256 << 10, 64 << 10, false},
		{160 << 10, 256 << 10, 64 << 10, false},
		{128 << 10, 64 << 10, 0, true},
	} {
		r := Recorder{keeper: keeper{recording: &recording{}, limit: tt.limit}}
		size, err := r.divide(tt.chunk)
		if size != tt.wantSize || errors.Is(err, ErrSmall) != tt.wantError {
			t.Errorf("limit %d, chunk %d: %d, %v, want %d", tt.limit, tt.chunk, size, err, tt.wantSize)
		}
		if err == nil && (len(r.shards) < 2*int(r.mask+1) || len(r.shared)&(len(r.shared)-1) != 0) {
			t.Errorf("%d shards for mask %d", len(r.shards), r.mask)
		}
	}
}

// The lock is one exchange: a second taker does not get it.
func TestAcquire(t *testing.T) {
	var r recording
	r.shared, r.mask = make([]shard, 4), 1
	taken := map[*shard]bool{}
	for range 4 {
		taken[r.acquire(0)] = true
	}
	if len(taken) != 4 || taken[nil] {
		t.Errorf("took %d different shards of 4", len(taken))
	}
	if r.acquire(0) != nil || r.lost[rawformat.LostBusy].count.Load() != 1 {
		t.Error("a fifth shard, or no count of it")
	}
	atomic.StoreUint32(&r.shared[2].lock, 0)
	if r.acquire(1) != &r.shared[2] {
		t.Error("the free one was not found")
	}
}
