package decode

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

var timed = recorder.NewEvent1("timed", recorder.Int64("before"))

// Markers that were stamped with the processor's counter are read with their
// monotonic time, give or take 100 ns.
func TestRecordedTicks(t *testing.T) {
	const slack = 100
	rec, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Limit: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var after []uint64
	for end := time.Now().Add(1200 * time.Millisecond); time.Now().Before(end); {
		timed.Mark(int64(monotonic()))
		after = append(after, monotonic())
		time.Sleep(time.Millisecond)
	}
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	p, err := chunks.OpenProcess(os.DirFS(rec.Session()), filepath.Base(rec.Dir()))
	if err != nil {
		t.Fatal(err)
	}
	counter := p.Chunks[0].Header.Clock() == rawformat.ClockTSC
	ticks := allTicks(p)
	if counter != (len(ticks) > 3) { // one a second, more in the beginning
		t.Errorf("clock %d, and %d anchors", p.Chunks[0].Header.Clock(), len(ticks))
	}
	found := map[uint64]uint64{} // when a marker was, by the time before it
	tick := uint64(0)
	for blocks := p.Blocks(nil); blocks.Next(); {
		b := blocks.Block()
		c := b.Fields
		tick = blockTick(b.Kind, &c, tick)
		if b.Kind != rawformat.KindInstant {
			continue
		}
		b.Fields.Uint("event")
		b.Fields.Uint("stack")
		b.Fields.Sint("time")
		if args := b.Fields.Args(nil, "args"); len(args) == 1 && args[0].Wire == rawformat.WireSint {
			found[args[0].Num] = ticks.monotonic(tick)
		}
	}
	if len(found) != len(after) {
		t.Fatalf("%d markers, want %d", len(found), len(after))
	}
	for i, before := range slices.Sorted(maps.Keys(found)) {
		if at := found[before]; at+slack < before || at > after[i]+slack {
			t.Errorf("marker %d is at %d, want %d to %d", i, at, before, after[i])
		}
	}
}

func monotonic() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		panic("no monotonic clock")
	}
	return uint64(t.Nano())
}
