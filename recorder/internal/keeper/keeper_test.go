package keeper

import (
	"cmp"
	"errors"
	"fmt"
	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/record"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/shard"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
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

// begin has a keeper look after a recording of its own, in a directory of the test's. What
// is not said of chunks and limit is the default.
func begin(t testing.TB, c Config) (k *Keeper, dir string) {
	t.Helper()
	faults := mapping.Faults()
	c.Recording = shard.Open(shard.Config{Instance: uint64(time.Now().UnixNano()), Markers: true, Stacks: true, FaultErr: mapping.CatchFaults()})
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
	c.Wants = func(string) bool { return true }
	k = New(c)
	if err := errors.Join(k.Open(), k.Begin()); err != nil {
		t.Fatal(err)
	}
	k.Sampling(false, "off")
	k.Run()
	t.Cleanup(func() { stop(t, k) })
	return k, dir
}

// stop ends the recording, unless that was done.
func stop(t testing.TB, k *Keeper) {
	t.Helper()
	k.Stopping(func() {
		if err := errors.Join(k.End(), k.Close(), k.Leave()); err != nil {
			t.Error(err)
		}
	})
}

// dismiss ends the keeper's goroutines.
func dismiss(k *Keeper) {
	close(k.quit)
	k.rec.Nap().Wake()
	k.crew.Wait()
	k.quit = make(chan struct{})
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

// takeAll takes all chunks that the ring has room for. Nobody else may want one.
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

// Where there is no chunk, markers are dropped and counted, and the count is
// written when there is room again.
func TestNoChunk(t *testing.T) {
	k, dir := begin(t, Config{Limit: 1 << 20, ChunkSize: 64 << 10})
	dismiss(k) // how many chunks it would give up for the dictionary and for rings is its business
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
	k.turning.Lock() // no new generation
	defer k.turning.Unlock()
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

// What is lost until Stop is told; that it can't be told yet adds nothing.
func TestLossesAtTheEnd(t *testing.T) {
	k, dir := begin(t, Config{Limit: 1 << 20, ChunkSize: 64 << 10})
	dismiss(k) // the keeper would lose blocks of its own
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

// A bug in a goroutine of the keeper ends the recording, and not the program.
func TestPanicInAGoroutine(t *testing.T) {
	k, _ := begin(t, Config{})
	mark(probe, 1)
	k.employ(func() { panic("test") })
	for k.rec.Failure() == nil {
		runtime.Gosched()
	}
	if k.IsActive() || k.rec.Failure().Error() != "internal error: test" {
		t.Errorf("active %v after %v", k.IsActive(), k.rec.Failure())
	}
}
