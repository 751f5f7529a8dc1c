package recorder_test

import (
	"math"
	"testing"
	"time"

	"gprof/rawformat"
	"gprof/recorder"
)

var placedStack = recorder.NewEvent1("placed with a stack", recorder.Int("x"), recorder.WithStack())

// Markers are at the times that the program gives, wherever these lie, and neither change the
// times of other markers. Times that can't be recorded are counted.
func TestGivenTimes(t *testing.T) {
	rec := begin(t, recorder.Options{})
	now, ago := recorder.Now(), recorder.TimeOf(time.Now().Add(-time.Minute))
	before := recorder.Now()
	one.Mark(0)
	after := recorder.Now()
	one.MarkAt(now, 1)
	one.MarkAt(ago, 2)
	one.MarkAt(now-recorder.Time(1000*time.Hour), 3) // before this machine was started, maybe
	one.MarkAt(now+recorder.Time(time.Hour), 4)
	two.StartAt(now-2000, 5, "start")
	three.EndAt(now-1000, 6, true, 0)
	four.Between(now-500000, now-200000, 7, 0, "text", 1)
	many.Between(ago, ago, recorder.V(8))
	none.Between(now, now+1e6)
	placedStack.MarkAt(now, 9)
	one.Mark(10)

	one.MarkAt(math.MaxInt64, -1)
	one.MarkAt(math.MinInt64, -1)
	none.Between(now, now-1)
	if n := rec.Drops().Times; n != 3 {
		t.Errorf("%d markers were counted for their times, want 3", n)
	}
	r := finish(t, rec)
	got := map[uint64]entry{} // by first argument
	for _, e := range r.entries {
		if e.id != 0 && len(e.args) > 0 {
			n := e.args[0].Num
			if e.args[0].Wire == rawformat.WireFloat {
				n = uint64(math.Float64frombits(n))
			}
			got[n] = e
		}
	}
	got[11] = r.of("none")[0]
	base := int64(got[0].at) - int64(before+after)/2 // of CLOCK_MONOTONIC
	for n, want := range map[uint64]struct {
		phase    rawformat.Phase
		at       recorder.Time
		duration uint64
	}{
		1: {0, now, 0}, 2: {0, ago, 0}, 3: {0, now - recorder.Time(1000*time.Hour), 0}, 4: {0, now + recorder.Time(time.Hour), 0},
		5: {rawformat.PhaseStart, now - 2000, 0}, 6: {rawformat.PhaseEnd, now - 1000, 0},
		7: {rawformat.PhaseInterval, now - 500000, 300000}, 8: {rawformat.PhaseInterval, ago, 0}, 9: {0, now, 0}, 11: {rawformat.PhaseInterval, now, 1e6},
	} {
		e, ok := got[n]
		if !ok || e.kind != rawformat.KindPlaced || e.phase != want.phase {
			t.Errorf("%d: %+v, want one placed with phase %d", n, e, want.phase)
			continue
		}
		// The rate of the counter is known to a thousandth at worst, so soon after the start.
		distance := math.Abs(float64(want.at - now))
		slack := distance/100 + float64(after-before) + 20000
		if off := float64(int64(e.at)+e.shift-base) - float64(want.at); math.Abs(off) > slack {
			t.Errorf("%d: %.0f ns off, may be %.0f", n, off, slack)
		}
		if off := float64(e.dur) - float64(want.duration); math.Abs(off) > 1000+float64(want.duration)/100 {
			t.Errorf("%d: lasts %d ns, want %d", n, e.dur, want.duration)
		}
	}
	if e := got[10]; e.kind != rawformat.KindInstant || int64(e.at)-base < int64(before)-1000 { // base is that inexact
		t.Errorf("the marker after them is at %d, want %d or later", int64(e.at)-base, before)
	}
	for i, e := range r.entries {
		if e.kind == rawformat.KindPlaced && e.args != nil && e.args[0].Num == 9 && r.entries[i-1].kind != rawformat.KindStack {
			t.Error("no stack before the marker that asks for one")
		}
	}
}
