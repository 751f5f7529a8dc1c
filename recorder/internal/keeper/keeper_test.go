package keeper

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/record"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/shard"
)

// probe is an event with one number, or one with a stack.
var (
	probe     = event("probe", false)
	branching = event("branching", true)
)

func event(name string, stack bool) shard.Handle {
	return shard.Handle{Event: registry.Defined.Event(&registry.EventSpec{Name: name, Stack: stack, Fields: []registry.FieldSpec{numberField("n", rawformat.WireSint, rawformat.FormatInteger)}})}
}

//go:noinline
func mark(h shard.Handle, n int) { shard.Emit(h, rawformat.KindInstant, unsafe.Pointer(&n), nil, 0) }

// begin has a keeper look after a recording in a directory of its own. Chunk size and limit
// have defaults.
func begin(t testing.TB, c Config) (k *Keeper, dir string) {
	t.Helper()
	faults := mapping.Faults()
	c.Recording = shard.Open(shard.Config{Instance: uint64(time.Now().UnixNano()), Markers: true, Stacks: true, Faults: mapping.CatchFaults})
	c.Recording.Settle()
	session := filepath.Join(t.TempDir(), "session")
	dir = filepath.Join(session, fmt.Sprintf("%016x", c.Recording.Instance()))
	if err := folder.MakeSession(session, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := folder.MakeInstance(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c.Files, c.Session, c.Faults, c.Markers = folder.Dir(dir), session, faults, true
	c.Limit, c.ChunkSize = cmp.Or(c.Limit, 64<<20), cmp.Or(c.ChunkSize, 256<<10)
	c.Sample = func() { k.SetSampling(false, "off") }
	if c.Describe == nil {
		c.Describe = func() error { return nil }
	}
	k = New(c)
	if err := errors.Join(k.Open(), k.Begin()); err != nil {
		t.Fatal(err)
	}
	k.Run()
	t.Cleanup(func() { stop(t, k) })
	return k, dir
}

// stop ends the recording, unless that was done.
func stop(t testing.TB, k *Keeper) {
	t.Helper()
	k.StopOnce(func() {
		if err := errors.Join(k.End(), k.Close(), k.Leave()); err != nil {
			t.Error(err)
		}
	})
}

// stopGoroutines ends the keeper's goroutines.
func stopGoroutines(k *Keeper) {
	close(k.quit)
	k.rec.Nap().Wake()
	k.goroutines.Wait()
	k.quit = make(chan struct{})
}

// losses reads how much the recording says was lost, by reason.
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

// takeAll takes all chunks that the ring has room for. No other writer may want one.
func takeAll(k *Keeper) (taken []*ring.Chunk) {
	for {
		k.maintainRing()
		before := len(taken)
		for c := k.ring.Get(99, 1); c != nil; c = k.ring.Get(99, 1) {
			taken = append(taken, c)
		}
		if len(taken) == before {
			return taken
		}
	}
}

// If there is no chunk, markers are dropped and counted, and the count is written when there
// is room again.
func TestNoChunk(t *testing.T) {
	k, dir := begin(t, Config{Limit: 1 << 20, ChunkSize: 64 << 10})
	stopGoroutines(k) // it would take chunks for the dictionary and for sample rings
	k.rec.ReleaseIdle(0)
	taken := takeAll(k)
	mark(probe, 1)
	if k.rec.Lost(rawformat.LostNoChunk) == 0 {
		t.Fatal("nothing counted")
	}
	for _, c := range taken {
		k.ring.Release(c)
	}
	stop(t, k)
	if lost := losses(t, dir); lost[rawformat.LostNoChunk] != k.rec.Lost(rawformat.LostNoChunk) {
		t.Errorf("recording says %v, want %d for want of chunks", lost, k.rec.Lost(rawformat.LostNoChunk))
	}
}

// A full dictionary stops definitions, not the recording.
func TestFullDictionary(t *testing.T) {
	k, dir := begin(t, Config{Limit: 1 << 20, ChunkSize: 64 << 10})
	k.rotating.Lock() // no new generation
	defer k.rotating.Unlock()
	for i := 0; !k.dict.IsFull(); i++ {
		k.dict.Define(record.New(rawformat.KindDefString).Uint(uint64(i + 1)).Text(strings.Repeat("x", 1000)))
	}
	if size, limit := k.dict.Size(), int64(1<<20/dictShare); size > limit {
		t.Errorf("dictionary of %d bytes, want at most %d", size, limit)
	}
	mark(event("late", false), 1)
	mark(probe, 1)
	if id := k.dict.Stack([]dict.Frame{{PC: 1}}); id != 0 {
		t.Errorf("stack has id %d in a full dictionary", id)
	}
	stop(t, k)
	if lost := losses(t, dir); lost[rawformat.LostDictionary] < 2 {
		t.Errorf("recording says %v, want the definition and the marker of late", lost)
	}
}

// Losses are in the recording after Stop. A failed attempt to write them adds no loss.
func TestLossesAtTheEnd(t *testing.T) {
	k, dir := begin(t, Config{Limit: 1 << 20, ChunkSize: 64 << 10})
	stopGoroutines(k) // the keeper would lose blocks of its own
	release := k.rec.Hold()
	mark(probe, 1)
	want := k.rec.Lost(rawformat.LostBusy)
	k.rec.WriteLosses()
	if n := k.rec.Lost(rawformat.LostBusy); n != want {
		t.Errorf("%d losses, want the marker's %d", n, want)
	}
	release()
	stop(t, k)
	if lost := losses(t, dir); lost[rawformat.LostBusy] != want {
		t.Errorf("recording says %v, want %d busy", lost, want)
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
		k := Keeper{rec: &shard.Recording{}, limit: tt.limit}
		size, err := k.divide(tt.chunk)
		if size != tt.wantSize || errors.Is(err, ErrSmall) != tt.wantError {
			t.Errorf("limit %d, chunk %d: %d, %v, want %d", tt.limit, tt.chunk, size, err, tt.wantSize)
		}
	}
}

// A bug in a goroutine of the keeper ends the recording, not the program.
func TestPanicInAGoroutine(t *testing.T) {
	k, _ := begin(t, Config{})
	mark(probe, 1)
	k.spawn(func() { panic("test") })
	for k.rec.Failure() == nil {
		runtime.Gosched()
	}
	if k.IsActive() || k.rec.Failure().Error() != "internal error: test" {
		t.Errorf("active %v after %v", k.IsActive(), k.rec.Failure())
	}
}

// The recorder's own goroutines share one track.
func TestOwnTrack(t *testing.T) {
	k, _ := begin(t, Config{Limit: 4 << 20})
	labels := make(chan string)
	k.spawn(func() {
		var b bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&b, 1)
		labels <- b.String()
	})
	if got := <-labels; !strings.Contains(got, `"gprof.track":"gprof recorder"`) {
		t.Errorf("no goroutine on the track:\n%s", got)
	}
	if k.trackID("gprof recorder") == 0 {
		t.Error("the track is not defined")
	}
}

// A burst of up to a quarter of the limit, or 4 MiB, overwrites nothing before the ring is as
// large as its limit, if the keeper gets its turn between bursts.
func TestBurstsBelowTheLimit(t *testing.T) {
	for limit, chunk := range map[int64]int64{1 << 20: 64 << 10, 4 << 20: 256 << 10, 32 << 20: 256 << 10} {
		k, _ := begin(t, Config{Limit: limit})
		<-k.mapped
		ready := uint64(min(burst, limit/minChunks) - 2*chunk) // without the writer's chunk and the keeper's
		bursts := 0
		for ; k.ring.Discarded() == 0 && k.ring.RangeEnd() < 2*uint64(limit); bursts++ {
			awaitSpares(t, k)
			until := k.ring.RangeEnd() + ready
			for n := 0; k.ring.RangeEnd() < until; n++ {
				mark(probe, n)
			}
		}
		written := float64(k.ring.RangeEnd()) / float64(limit)
		stop(t, k)
		t.Logf("limit %d MiB: the first chunk was overwritten after %d bursts, %.0f %% of the limit", limit>>20, bursts, 100*written)
		if written < 0.8 { // the dictionary counts, too
			t.Errorf("limit %d: the first chunk was overwritten when %.2f of it was written", limit, written)
		}
	}
}

// awaitSpares waits until the keeper has prepared its spare chunks, or the ring has its
// full size.
func awaitSpares(t *testing.T, k *Keeper) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); k.ring.Low(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatal("no chunks are prepared")
		}
	}
}

// Time spent on taking shards is told once: all rows together are all of it.
func TestLockingIsToldOnce(t *testing.T) {
	k, dir := begin(t, Config{})
	stopGoroutines(k)
	var locking int64
	for range 3 {
		k.rec.Log(rawformat.LogInfo, "takes a shard")
		locking = k.rec.Locking()
		k.writeOverhead()
	}
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	told, rows := uint64(0), 0
	for blocks := p.Blocks(nil); blocks.Next(); {
		if b := blocks.Block(); b.Kind == rawformat.KindOverhead {
			b.Fields.Sint("time")
			told += b.Fields.Uint("lock")
			rows++
		}
	}
	if locking <= 0 || told != uint64(locking) || rows < 3 {
		t.Errorf("%d rows tell %d ns of %d", rows, told, locking)
	}
}

// If the disk has no room for meta when all is known, the keeper tries again.
func TestDescribeAgain(t *testing.T) {
	var calls atomic.Int32
	k, _ := begin(t, Config{Describe: func() error {
		if calls.Add(1) == 1 {
			return syscall.ENOSPC
		}
		return nil
	}})
	for deadline := time.Now().Add(time.Minute); calls.Load() < 2 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if err := k.Trouble(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("trouble %v", err)
	}
	stop(t, k)
	if n := calls.Load(); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}
