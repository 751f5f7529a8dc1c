package recorder

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/record"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
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

// A marker that finds every shard taken is dropped at once, and counted.
func TestBusyShards(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	release := r.rec.Hold()
	for range 5 {
		probeEvent.Mark(1)
	}
	if n := r.rec.Lost(rawformat.LostBusy); n < 5 {
		t.Errorf("%d markers counted, want 5", n)
	}
	release()
	r.Stop()
	if lost := losses(t, r.dir); lost[rawformat.LostBusy] < 5 {
		t.Errorf("recording says %v, want 5 busy", lost)
	}
}

// takeAll takes all chunks that the ring has room for. Nobody else may want one.
func takeAll(r *Recorder) (taken []*ring.Chunk) {
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
	r.rec.ReleaseIdle(0)
	taken := takeAll(r)
	probeEvent.Mark(1)
	if r.rec.Lost(rawformat.LostNoChunk) == 0 {
		t.Fatal("nothing counted")
	}
	for _, c := range taken {
		r.ring.Release(c)
	}
	r.Stop()
	if lost := losses(t, r.dir); lost[rawformat.LostNoChunk] != r.rec.Lost(rawformat.LostNoChunk) {
		t.Errorf("recording says %v, want %d for want of chunks", lost, r.rec.Lost(rawformat.LostNoChunk))
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
	probeEvent.Mark(1) // so that a shard has a chunk
	r.employ(func() {
		r.rec.Hold()
		panic("test")
	})
	for r.Err() == nil {
		runtime.Gosched()
	}
	if err := r.Stop(); !errors.Is(err, ring.ErrInUse) {
		t.Errorf("%v, want %v", err, ring.ErrInUse)
	}
}

// However many shards' holders are gone, Stop waits once.
func TestStopWaitsOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(32))
	r := beginInternal(t, Options{Limit: 32 << 20, CPU: CPUOff})
	r.rec.Hold() // nobody gives them back
	r.rec.Contain(func() { panic("test") })
	begun := rt.Now()
	if err := r.Stop(); err != nil && !errors.Is(err, ring.ErrInUse) {
		t.Fatal(err)
	}
	if took, each := time.Duration(rt.Now()-begun), patience*time.Duration(2*r.rec.Choices()); took > each/2 {
		t.Errorf("%v for %d shards, which is %v for all", took, 2*r.rec.Choices(), each)
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
	release := r.rec.Hold()
	probeEvent.Mark(1)
	want := r.rec.Lost(rawformat.LostBusy)
	r.rec.WriteLosses()
	if n := r.rec.Lost(rawformat.LostBusy); n != want {
		t.Errorf("%d losses, want the marker's %d", n, want)
	}
	release()
	r.Stop()
	if lost := losses(t, r.dir); lost[rawformat.LostBusy] != want {
		t.Errorf("recording says %v, want %d busy", lost, want)
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
		r := Recorder{keeper: keeper{rec: &shard.Recording{}, limit: tt.limit}}
		size, err := r.divide(tt.chunk)
		if size != tt.wantSize || errors.Is(err, ErrSmall) != tt.wantError {
			t.Errorf("limit %d, chunk %d: %d, %v, want %d", tt.limit, tt.chunk, size, err, tt.wantSize)
		}
	}
}
