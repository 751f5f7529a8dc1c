package chunks

import (
	"fmt"
	"testing"

	"gprof/rawformat"
)

// A process ended when it committed for the last time. This is the time of the latest
// block of a chunk that was not closed, or the close anchor of another.
func TestLastCommit(t *testing.T) {
	at := func(tsc, monotonic uint64) rawformat.Anchor {
		return rawformat.Anchor{TSC: tsc, Monotonic: monotonic, Realtime: 1e9 + int64(monotonic)}
	}
	sync := func(c *testChunk, time uint64) []byte {
		b := []byte{byte(rawformat.KindSync)}
		for _, v := range []uint64{c.h.RangeStart, c.h.Epoch, time, 7, 0} {
			b = rawformat.AppendUint(b, v)
		}
		return b
	}
	instant := func(delta int64) []byte { // event, stack, time, no arguments
		b := rawformat.AppendUint(rawformat.AppendUint([]byte{byte(rawformat.KindInstant)}, 900), 0)
		return rawformat.AppendUint(rawformat.AppendSint(b, delta), 1)
	}
	open := func(n uint64, clock rawformat.ClockKind, anchor rawformat.Anchor) *testChunk {
		c := newTestChunk(1+n*smallCapacity, n+1, smallCapacity)
		c.noSync = true
		c.h.Flags, c.h.Open = uint16(clock)<<8, anchor
		return c
	}
	for _, clock := range []rawformat.ClockKind{rawformat.ClockMonotonic, rawformat.ClockTSC} {
		ticks := uint64(1)
		if clock == rawformat.ClockTSC {
			ticks = 3 // a nanosecond
		}
		first := open(0, clock, at(3000, 1000))
		first.add(sync(first, ticks*1000), instant(5))
		first.close().h.Close = at(15000, 5000)
		second := open(1, clock, at(12000, 4000))
		second.add(sync(second, ticks*4000), instant(int64(ticks)*2500), instant(-int64(ticks)*100), instant(int64(ticks)*50), logBody("later"))
		third := open(2, clock, at(6000, 2000))
		third.add(sync(third, ticks*2000))
		files := map[string][]byte{}
		for i, c := range []*testChunk{first, second, third} {
			files[fmt.Sprintf("chunk-%05d", i)] = c.file()
		}
		got := mustOpen(t, dirOf(files)).LastCommit()
		if want := at(0, 6500); got != want {
			t.Errorf("clock %d: last commit %+v, want %+v", clock, got, want)
		}
	}
	if got := mustOpen(t, dirOf(map[string][]byte{"meta": testRecords(rawformat.MagicMeta, 0)})).LastCommit(); got != (rawformat.Anchor{}) {
		t.Errorf("without chunks %+v", got)
	}
	hostile := open(0, rawformat.ClockMonotonic, at(0, 1000))
	hostile.add(sync(hostile, 1000), instant(1<<62))
	if got := mustOpen(t, dirOf(map[string][]byte{"chunk-00000": hostile.file()})).LastCommit(); got != at(0, 1000) {
		t.Errorf("an impossible time is believed: %+v", got)
	}
}
