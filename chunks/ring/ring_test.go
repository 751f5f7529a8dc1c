package ring

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/internal/chunktest"
	"gprof/rawformat"
)

// Two writers go round a ring of five files several times. The end of what each wrote is
// left, whole and sealed.
func TestRingReadBack(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(folder.Dir(dir), testOptions(5))
	if err != nil {
		t.Fatal(err)
	}
	if start, end := r.RangeStart(), r.RangeEnd(); start != 1 || end != 1 {
		t.Errorf("range of a new ring %d to %d, want 1 to 1: 0 is no index", start, end)
	}
	writers := []*writer{{Ring: r, ID: 1}, {Ring: r, ID: 2}}
	text := string(bytes.Repeat([]byte("x"), 90))
	for i := range 12000 {
		if !writers[i%3%2].Log(text[:i%len(text)]) {
			t.Fatalf("block %d: no chunk", i)
		}
		if i%100 == 0 {
			if err := r.Maintain(); err != nil {
				t.Fatal(err)
			}
			if n := countFiles(t, dir); n > 5 {
				t.Fatalf("%d files", n)
			}
		}
	}
	for _, w := range writers {
		w.Close()
	}
	start, end := r.RangeStart(), r.RangeEnd()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	blocks, problems := chunktest.ReadAll(t, p)
	if len(problems) > 0 {
		t.Errorf("problems: %+v", problems)
	}
	if start == 1 || end < 6*testCapacity {
		t.Fatalf("range %d to %d: the ring did not turn", start, end)
	}
	var want []chunktest.Block
	for _, w := range writers {
		for _, b := range w.Put {
			if b.Index >= start {
				want = append(want, b)
			}
		}
	}
	compareHeld(t, p, blocks, want)
	for _, im := range p.Chunks {
		if !im.Closed || im.Header.Clock() != rawformat.ClockTSC || im.Header.Pid != testPid || im.Header.Open.TSC != 2*im.Header.Open.Monotonic {
			t.Errorf("%s: %+v", im.Name, im.Header)
		}
	}
}

// compareHeld compares what was read with those of want that lie in a chunk
// that is still there.
func compareHeld(t *testing.T, p *chunks.Process, got, want []chunktest.Block) {
	t.Helper()
	want = slices.DeleteFunc(want, func(b chunktest.Block) bool {
		return !slices.ContainsFunc(p.Chunks, func(im *chunks.Image) bool { return im.Header.RangeStart <= b.Index && b.Index < im.End() })
	})
	slices.SortFunc(want, func(a, b chunktest.Block) int { return int(int64(a.Index - b.Index)) })
	if len(got) != len(want) {
		t.Fatalf("%d blocks, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Index != want[i].Index || got[i].Body != want[i].Body {
			t.Fatalf("block %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func countFiles(t testing.TB, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Files are private, of full size from the start, and no descriptor stays.
func TestRingFiles(t *testing.T) {
	dir := t.TempDir()
	before := countFiles(t, "/dev/fd")
	r, err := Open(folder.Dir(dir), testOptions(4))
	if err != nil {
		t.Fatal(err)
	}
	if after := countFiles(t, "/dev/fd"); after > before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	entries, _ := os.ReadDir(dir)
	for i, e := range entries {
		info, _ := e.Info()
		if want := []string{"chunk-00000", "chunk-00001"}[i]; e.Name() != want || info.Mode().Perm() != 0o600 || info.Size() != testFile {
			t.Errorf("file %s %v %d", e.Name(), info.Mode(), info.Size())
		}
	}
	c := mustGet(t, r, 1)
	if len(c.Payload()) != testCapacity || cap(c.Payload()) != testCapacity {
		t.Errorf("payload of %d bytes, want %d", len(c.Payload()), testCapacity)
	}
	r.Release(c)
	if err := r.Close(); err != nil || countFiles(t, dir) != 1 {
		t.Errorf("%v; %d files, want the one that was used", err, countFiles(t, dir))
	}
}

// The range start is the lowest base that is kept, whatever the order of
// releases, and only a discard raises it.
func TestRingRangeStart(t *testing.T) {
	o := testOptions(3)
	o.MinSpare = 3
	r := mustRing(t, newMemory(3), o)
	base := func(n uint64) uint64 { return 1 + n*testCapacity }
	step := func(what string, start, end uint64) {
		t.Helper()
		if r.RangeStart() != base(start) || r.RangeEnd() != base(end) {
			t.Errorf("%s: range %d to %d, want %d to %d", what, r.RangeStart(), r.RangeEnd(), base(start), base(end))
		}
	}
	step("new", 0, 0)
	a, b, c := mustGet(t, r, 1), mustGet(t, r, 2), mustGet(t, r, 3)
	step("three taken", 0, 3)
	if x := r.Get(4, 1); x != nil {
		t.Errorf("a fourth chunk of three: %+v", x.Header())
	}
	r.Release(b)
	step("second released", 0, 3)
	if d := mustGet(t, r, 4); d != b || d.RangeStart() != base(3) || d.Header().Held != base(0) {
		t.Errorf("got %+v", d.Header())
	}
	step("second discarded: the first one is still in use", 0, 4)
	r.Release(c)
	r.Release(a)
	if d := mustGet(t, r, 5); d != c || d.RangeStart() != base(4) {
		t.Errorf("got %+v, want the one that was released first", d.Header())
	}
	step("third discarded", 0, 5)
	if d := mustGet(t, r, 6); d != a || d.Header().Held != base(3) {
		t.Errorf("got %+v, want the first one, with range start %d", d.Header(), base(3))
	}
	step("first discarded: the fourth is the lowest", 3, 6)
	r.Release(b)
	r.Charge(testFile)
	if err := r.Maintain(); err != nil {
		t.Fatal(err)
	}
	step("fourth given back, because something else takes its room", 4, 6)
}

func TestRingHeader(t *testing.T) {
	r := mustRing(t, newMemory(2), testOptions(2))
	c := r.Get(7, 9)
	h, sealed, err := rawformat.ReadHeader(c.mapping.Bytes())
	want := rawformat.Header{Version: rawformat.Version, Flags: uint16(rawformat.ClockTSC) << 8, Instance: testInstance, Epoch: 1, RangeStart: 1,
		Capacity: testCapacity, Pid: testPid, Writer: 7, Generation: 9, Open: rawformat.Anchor{TSC: 2, Monotonic: 1, Realtime: 3}, State: rawformat.StateInUse, Held: 1}
	if err != nil || sealed || h != want || c.Header() != want {
		t.Fatalf("%+v, %v, %v\nwant %+v\nsnapshot %+v", h, sealed, err, want, c.Header())
	}
	if i, e := rawformat.ReadTrailer(c.trailer); i != testInstance || e != 1 {
		t.Errorf("trailer %x, %d", i, e)
	}
	commit := rawformat.MakeCommit(0, 0)
	r.Release(c)
	if err := r.Maintain(); err != nil {
		t.Fatal(err)
	}
	h, sealed, err = rawformat.ReadHeader(c.mapping.Bytes())
	want.State, want.Close, want.Commit = rawformat.StateDone, rawformat.Anchor{TSC: 4, Monotonic: 2, Realtime: 6}, commit
	if err != nil || !sealed || h != want {
		t.Errorf("closed: %+v, %v, %v\nwant %+v", h, sealed, err, want)
	}
	for use := range uint64(3) {
		again := mustGet(t, r, 7)
		if again.Epoch() != use+2 {
			t.Errorf("epoch %d, want %d: each use has its own", again.Epoch(), use+2)
		}
		r.Release(again)
	}
}

// Neither files nor charges ever take the ring over its limit, down to two
// files.
func TestRingLimit(t *testing.T) {
	m := newMemory(100)
	r := mustRing(t, m, testOptions(8))
	check := func(what string, files int) {
		t.Helper()
		if err := r.Maintain(); err != nil {
			t.Fatal(err)
		}
		if m.count() != files || int(r.files.Load()) != files || len(r.chunks) != files {
			t.Errorf("%s: %d files, want %d", what, m.count(), files)
		}
	}
	check("new", 2)
	var held []*Chunk
	for range 2 {
		held = append(held, mustGet(t, r, 1))
	}
	if !r.Low() {
		t.Error("no spare chunk, and not low")
	}
	check("two taken: two, and twice two", 6)
	for range 4 {
		held = append(held, mustGet(t, r, 1))
	}
	check("six taken, up to the limit", 8)
	for range 2 {
		held = append(held, mustGet(t, r, 1))
	}
	check("all taken", 8)
	if r.Low() {
		t.Error("low at the limit")
	}
	for _, c := range held {
		r.Release(c)
	}
	start := r.RangeStart()
	r.Charge(testFile + 1)
	check("charged for one and a byte", 6)
	if got, want := r.RangeStart(), start+2*testCapacity; got != want {
		t.Errorf("range start %d, want %d: the oldest go", got, want)
	}
	r.Charge(100 * testFile)
	for range 30 { // until what was taken once does not count any more
		check("charged for more than there is", 2)
	}
	r.Charge(-101*testFile - 1)
	mustGet(t, r, 1)
	check("room again", 4)
}

// Open leaves most of the work to Maintain, if told so.
func TestRingAtFirst(t *testing.T) {
	o := testOptions(8)
	o.MinSpare, o.AtFirst = 5, 3
	m := newMemory(8)
	r := mustRing(t, m, o)
	if m.count() != 3 || !r.Low() {
		t.Errorf("%d files at first, low %v; want 3, and to be waked", m.count(), r.Low())
	}
	if err := r.Maintain(); err != nil || m.count() != 5 || r.Low() {
		t.Errorf("%v; %d files, low %v; want 5", err, m.count(), r.Low())
	}
}

func TestRingNoSpace(t *testing.T) {
	o := testOptions(8)
	o.MinSpare = 5
	m := newMemory(3)
	r := mustRing(t, m, o)
	if m.count() != 3 || r.Low() {
		t.Errorf("%d files, low %v; want 3, and no waking", m.count(), r.Low())
	}
	mustGet(t, r, 1)
	if err := r.Maintain(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	m.room = 100
	if err := r.Maintain(); err != nil || m.count() != 6 {
		t.Errorf("%v; %d files, want the one taken and 5 spare", err, m.count())
	}
	m = newMemory(1)
	if _, err := Open(m, o); !errors.Is(err, syscall.ENOSPC) || m.count() != 0 {
		t.Errorf("error %v, %d files", err, m.count())
	}
}

func TestOptions(t *testing.T) {
	var zero Options
	r := mustRing(t, newMemory(1000), zero)
	if c := mustGet(t, r, 1); len(c.Payload()) != 256<<10-rawformat.HeadSize-rawformat.TrailerSize {
		t.Errorf("payload of %d bytes", len(c.Payload()))
	}
	for _, o := range []Options{{ChunkFile: 5000}, {ChunkFile: -testFile}, {ChunkFile: 2 << 20}} {
		if _, err := Open(newMemory(10), o); err == nil {
			t.Errorf("chunk file of %d bytes is accepted", o.ChunkFile)
		}
	}
	if _, err := Open(newMemory(10), Options{ChunkFile: testFile, Limit: 2*testFile - 1}); !errors.Is(err, ErrLimit) {
		t.Errorf("error %v", err)
	}
}

// A chunk that a writer still has stays mapped.
func TestRingCloseInUse(t *testing.T) {
	r, err := Open(folder.Dir(t.TempDir()), testOptions(2))
	if err != nil {
		t.Fatal(err)
	}
	c := mustGet(t, r, 1)
	if err := r.Close(); !errors.Is(err, ErrInUse) {
		t.Errorf("error %v", err)
	}
	c.Payload()[testCapacity-1] = 1
	if r.Get(1, 1) != nil {
		t.Error("a chunk of a closed ring")
	}
	r.Release(c)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestRingAllocs(t *testing.T) {
	r, err := Open(folder.Dir(t.TempDir()), testOptions(4))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.Release(mustGet(t, r, 1))
		if err := r.Maintain(); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		c, d := r.Get(1, 1), r.Get(2, 1)
		r.Release(d)
		r.Release(c)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Writers and the housekeeper work at once: no chunk has two owners, no index and no epoch
// is given twice, and seals are true.
func TestRingConcurrent(t *testing.T) {
	const writers, rounds = 4, 300
	r := mustRing(t, newMemory(100), testOptions(7))
	var mu sync.Mutex
	epochs := map[uint64]uint64{} // to range start
	var work sync.WaitGroup
	for id := range uint16(writers) {
		work.Go(func() {
			for i := 0; i < rounds; {
				c := r.Get(id, 1)
				if c == nil {
					continue // another caller lost its processor
				}
				i++
				h := c.Header()
				mu.Lock()
				if old, ok := epochs[h.Epoch]; ok || h.Held > h.RangeStart {
					t.Errorf("epoch %d of range %d was that of %d; held %d", h.Epoch, h.RangeStart, old, h.Held)
				}
				epochs[h.Epoch] = h.RangeStart
				mu.Unlock()
				writeSome(c, id, i)
				if h.Writer != id || c.Header().Epoch != h.Epoch {
					t.Errorf("chunk of writer %d became that of %d", id, c.Header().Writer)
				}
				r.Release(c)
			}
		})
	}
	stop := make(chan struct{})
	var housekeeper sync.WaitGroup
	housekeeper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if err := r.Maintain(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	work.Wait()
	close(stop)
	housekeeper.Wait()
	if err := r.Maintain(); err != nil {
		t.Error(err)
	}
	if want := uint64(1 + writers*rounds*testCapacity); len(epochs) != writers*rounds || r.RangeEnd() != want {
		t.Errorf("%d epochs, range end %d, want %d", len(epochs), r.RangeEnd(), want)
	}
	for _, c := range r.chunks {
		checkSeals(t, c)
	}
}

func writeSome(c *Chunk, id uint16, i int) {
	var at uint32
	var n uint32
	for int(at) < rawformat.PageSize*(i%15) {
		b := rawformat.AppendBlock(nil, bytes.Repeat([]byte{byte(id) + 1}, 1+i*37%600))
		copy(c.Payload()[at:], b)
		at += uint32(len(b))
		n++
		atomic.StoreUint64(c.CommitWord(), uint64(rawformat.MakeCommit(at, n)))
	}
}
