package recorder

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/ring"
	"gprof/rawformat"
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

// A bug of the keeper ends the recording; the host lives on, and Stop
// still writes what there is.
func TestPanicOfTheKeeper(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	probeEvent.Mark(1)
	r.rec.Contain(func() { panic("test") }) // as its goroutines do
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
	r.rec.Contain(func() {
		r.rec.Hold()
		panic("test")
	})
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
	if took, each := time.Duration(rt.Now()-begun), 100*time.Millisecond*time.Duration(2*r.rec.Choices()); took > each/2 {
		t.Errorf("%v for %d shards, which is %v for all", took, 2*r.rec.Choices(), each)
	}
}

// What Resume stores after a failure does not count.
func TestResumeAfterFailure(t *testing.T) {
	for range 200 {
		r := beginInternal(t, Options{Limit: 1 << 20})
		r.Pause()
		go r.rec.Contain(func() { panic("test") })
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

// dictSize is how many bytes the recording's dictionary has.
func dictSize(t *testing.T, r *Recorder) (size int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(r.dir, "dict-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}

// Names without end define nothing, and lose nothing.
func TestTooManyNames(t *testing.T) {
	const many = 200_000
	defer registry.Defined.Sandbox(nil)() // else they would take room in the dictionaries of all tests that follow
	r := beginInternal(t, Options{Limit: 16 << 20, CPU: CPUOff, HeapEvery: -1})
	<-r.keeper.Mapped() // what is in the dictionary besides names is there
	size := dictSize(t, r)
	for i := range many {
		Mark("name " + strconv.Itoa(i))
		if i == 2*registry.MaxNames {
			size = dictSize(t, r)
		}
	}
	if now := dictSize(t, r); now > size+32<<10 {
		t.Errorf("dictionary grew from %d to %d bytes", size, now)
	}
	r.Stop()
	if lost := losses(t, r.dir); lost[rawformat.LostDictionary] > 0 {
		t.Errorf("lost %v", lost)
	}
}
