package recorder

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/ring"
	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

var probeEvent = NewEvent1("probe", Int("n"))

// deep calls f below n more frames.
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

// If all shards are taken a marker is dropped at once, and counted.
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

// A bug in the keeper ends the recording. The host lives on, and Stop still writes what there
// is.
func TestPanicOfTheKeeper(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	probeEvent.Mark(1)
	r.rec.Contain(func() { panic("test") }) // as the keeper's goroutines do
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

// After a bug, Stop does not wait for a shard whose holder is gone; its chunk stays mapped.
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

// Stop waits only once, however many holders of shards are gone.
func TestStopWaitsOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(32))
	r := beginInternal(t, Options{Limit: 32 << 20, CPU: CPUOff})
	r.rec.Hold() // and never gives them back
	r.rec.Contain(func() { panic("test") })
	begun := rt.Now()
	if err := r.Stop(); err != nil && !errors.Is(err, ring.ErrInUse) {
		t.Fatal(err)
	}
	if took, each := time.Duration(rt.Now()-begun), 100*time.Millisecond*time.Duration(2*r.rec.Choices()); took > each/2 {
		t.Errorf("%v for %d shards, which is %v for all", took, 2*r.rec.Choices(), each)
	}
}

// Resume after a failure does not resume.
func TestResumeAfterFailure(t *testing.T) {
	for range 200 {
		r := beginInternal(t, Options{Limit: 1 << 20})
		r.Pause()
		go r.rec.Contain(func() { panic("test") })
		r.Resume()
		for r.Err() == nil {
			runtime.Gosched()
		}
		for r.Recording() { // fail may not have cleared it yet
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

// An endless supply of names defines no further events, and loses no markers.
func TestTooManyNames(t *testing.T) {
	const many = 200_000
	defer registry.Defined.Sandbox(nil)() // otherwise they would take room in the dictionaries of all later tests
	r := beginInternal(t, Options{Limit: 16 << 20, CPU: CPUOff, HeapEvery: -1})
	<-r.keeper.Mapped() // everything else is in the dictionary by now
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

// If the processor's counter jumps, the recorder stops using it at the next anchor. Times of
// markers, intervals and samples go on from where they were, and the recording says what
// happened.
func TestCounterJumps(t *testing.T) {
	for _, seconds := range []int64{-3600, -1, 1, 3600} {
		r := beginInternal(t, Options{Limit: 4 << 20})
		if !r.rec.Clock().Counter.Load() {
			t.Logf("no counter here: %v", r.rec.Clock().Why)
			return
		}
		<-r.keeper.Mapped()
		r.rec.Clock().Shift(seconds)
		begin := rt.Now()
		for deadline := time.Now().Add(time.Minute); !r.rec.Clock().Jumped() && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		before, at, after := r.rec.Clock().Now(), r.rec.Clock().At(rt.Now()), r.rec.Clock().Now()
		if !r.rec.Clock().Jumped() || at < before-1e8 || at > after+1e8 {
			t.Fatalf("%d s: jumped %v, %d is not between %d and %d", seconds, r.rec.Clock().Jumped(), at, before, after)
		}
		a := r.rec.Clock().Anchor()
		if off := rt.Tick(a.TSC) - r.rec.Clock().OfMonotonic(a.Monotonic); off != 0 {
			t.Errorf("%d s: anchor is %d ticks off", seconds, off)
		}
		probeEvent.Interval(begin, 1)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		p, err := chunks.OpenProcess(os.DirFS(r.session), filepath.Base(r.dir))
		if err != nil {
			t.Fatal(err)
		}
		told, longest := false, uint64(0)
		for blocks := p.Blocks(func(p chunks.Problem) { t.Error(p) }); blocks.Next(); {
			switch b := blocks.Block(); b.Kind {
			case rawformat.KindLog:
				b.Fields.Sint("time")
				b.Fields.Uint("level")
				told = told || strings.Contains(string(b.Fields.Text("text")), "has jumped")
			case rawformat.KindInterval:
				b.Fields.Uint("event")
				b.Fields.Uint("stack")
				b.Fields.Sint("time")
				longest = max(longest, b.Fields.Uint("duration"))
			}
		}
		if limit := r.rec.Clock().Line.Load().Ticks(uint64(2 * time.Minute)); !told || longest == 0 || longest > limit {
			t.Errorf("%d s: told %v, an interval of %d ticks", seconds, told, longest)
		}
	}
}

var earlyStacked = NewEvent("early stacked", WithStack())

// Once the dictionary has the modules of the process, it also has the places of markers made
// before Start.
func TestEarlyStacksAreNamed(t *testing.T) {
	StartEarly()
	earlyStacked.Mark()
	r := beginInternal(t, Options{Limit: 8 << 20, CPU: CPUOff, HeapEvery: -1})
	for deadline := time.Now().Add(time.Minute); !isNamed(t, r.dir, "gprof/recorder.TestEarlyStacksAreNamed"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody knows where the marker was made")
		}
	}
	r.Stop()
}

// isNamed reports whether a dictionary contains a name.
func isNamed(t *testing.T, dir, name string) bool {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, dict := range p.Dicts {
		for _, rec := range dict.All(nil) {
			if c := rec.Fields(); rec.Kind == rawformat.KindDefString {
				c.Uint("id")
				if string(c.Text("text")) == name {
					return true
				}
			}
		}
	}
	return false
}

// Drops counts each reason by itself.
func TestDrops(t *testing.T) {
	if d := (*Recorder)(nil).Drops(); d != (Drops{}) {
		t.Errorf("nil dropped %+v", d)
	}
	r := Recorder{rec: &shard.Recording{}}
	for why := range int(rawformat.LostDeep) + 1 {
		r.rec.Lose(rawformat.LostReason(why), uint64(why+1), 0)
	}
	if d, want := r.Drops(), (Drops{NoChunk: 1, Busy: 2, TooBig: 3, Dictionary: 4, Samples: 5, Labels: 6, Cut: 7, Deep: 9}); d != want || d.Markers() != 10 {
		t.Errorf("%+v, %d of markers; want %+v", d, d.Markers(), want)
	}
}

var deepEvent = NewEvent2("deep", Int("depth"), Uint("more"))

// If the counter is not read, assembly calls Go code for the time. The stack, on which the values
// of the marker lie, may have to grow for that, because goroutines begin with a small one.
func TestUncounted(t *testing.T) {
	const depths = 400
	r := beginInternal(t, Options{Limit: 4 << 20})
	r.rec.Clock().Counter.Store(false)
	for depth := range depths {
		var one sync.WaitGroup
		one.Go(func() { deep(depth, func() { deepEvent.Mark(depth, uint64(depth)<<32) }) })
		one.Wait()
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	p, err := chunks.OpenProcess(os.DirFS(r.session), filepath.Base(r.dir))
	if err != nil {
		t.Fatal(err)
	}
	found := map[uint64]bool{}
	for blocks := p.Blocks(func(p chunks.Problem) { t.Error(p) }); blocks.Next(); {
		b := blocks.Block()
		if b.Kind != rawformat.KindInstant || b.Fields.Uint("event") != uint64(deepEvent.h.Event.ID) {
			continue
		}
		b.Fields.Uint("stack")
		b.Fields.Sint("time")
		values := b.Fields.Args(nil, "args")
		if len(values) != 2 || values[1].Num != values[0].Num<<32 {
			t.Fatalf("a marker has %v", values)
		}
		found[values[0].Num] = true
	}
	if len(found) != depths {
		t.Errorf("%d markers are right, want %d", len(found), depths)
	}
}

// obey gives the recording's session a command, and waits until it is carried out.
func obey(t *testing.T, r *Recorder, c rawformat.Command) {
	t.Helper()
	control, err := session.Open(r.session, session.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	generation, err := control.Command(c)
	if err != nil {
		t.Fatal(err)
	}
	for obeyed := false; !obeyed; runtime.Gosched() {
		slots, err := control.Slots()
		if err != nil {
			t.Fatal(err)
		}
		obeyed = len(slots) == 1 && slots[0].Obeyed == generation
	}
}

// Losses before a stop are written before it: afterwards they would need a chunk that holds other
// data.
func TestLossesBeforeAStop(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	r.rec.Lose(rawformat.LostTooBig, 3, 0)
	obey(t, r, rawformat.CommandStop)
	if got := losses(t, r.dir)[rawformat.LostTooBig]; got != 3 {
		t.Errorf("%d losses are told, want 3", got)
	}
	before := r.keeper.Ring().Discarded()
	if err := r.Stop(); err != nil || r.keeper.Ring().Discarded() != before {
		t.Errorf("%v, %d chunks discarded by Stop", err, r.keeper.Ring().Discarded()-before)
	}
}

// So are samples that were taken before the modules were known, as the first ones are.
func TestSamplesBeforeAStop(t *testing.T) {
	for range 20 {
		r := beginInternal(t, Options{Limit: 4 << 20, SampleHz: 1000})
		for begun := rt.Now(); rt.Now()-begun < rt.Time(3*time.Millisecond); {
		}
		obey(t, r, rawformat.CommandStop)
		before := r.keeper.Ring().Discarded()
		if err := r.Stop(); err != nil || r.keeper.Ring().Discarded() != before {
			t.Errorf("%v, %d chunks discarded by Stop", err, r.keeper.Ring().Discarded()-before)
		}
	}
}

// When meta is completed it says what was discarded meanwhile, as the ring may have noted there.
func TestMetaRange(t *testing.T) {
	r := beginInternal(t, Options{Limit: 1 << 20, ChunkSize: 64 << 10, CPU: CPUOff})
	var rs records
	r.metaRange(rs.add)
	if len(rs) != 0 {
		t.Errorf("%d records, but nothing was discarded", len(rs))
	}
	ring := r.keeper.Ring()
	for deadline := time.Now().Add(time.Minute); ring.RangeStart() == 1 && time.Now().Before(deadline); {
		probeEvent.Mark(1)
	}
	if err := chunks.NoteRange(r.files, ring.RangeStart(), ring.Discarded()); err != nil {
		t.Fatal(err)
	}
	r.metaRange(rs.add)
	if err := r.writeMeta(rs); err != nil {
		t.Fatal(err)
	}
	p, err := chunks.OpenProcess(os.DirFS(r.session), filepath.Base(r.dir))
	if err != nil {
		t.Fatal(err)
	}
	if start, n := p.Number(rawformat.MetaRangeStart), p.Number(rawformat.MetaDiscarded); start <= 1 || start > ring.RangeStart() || n == 0 || n > uint64(ring.Discarded()) {
		t.Errorf("%d chunks discarded, range from %d on", n, start)
	}
}
