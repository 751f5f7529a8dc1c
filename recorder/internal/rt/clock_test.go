package rt

import (
	"fmt"
	"testing"
	"time"
)

// The tick of a moment is the one that the clock shows then, except for interruptions between two readings. On a busy
// machine all readings of a trial may be interrupted: then another clock is tried.
func TestTicksOfTimes(t *testing.T) {
	for attempt := 1; ; attempt++ {
		wrong := ticksOff(t)
		if wrong == "" {
			return
		}
		if t.Logf("attempt %d: %s", attempt, wrong); attempt == 10 {
			t.Fatal("none of the clocks was right")
		}
	}
}

// ticksOff says by how much a new clock is off after some time, if it is.
func ticksOff(t *testing.T) (wrong string) {
	var c Clock
	c.Open()
	for _, wait := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
		time.Sleep(wait)
		least := Tick(1 << 62)
		for range 100 {
			before := c.Now()
			at := c.At(Now())
			after := c.Now()
			least = min(least, max(before-at, at-after, 0))
		}
		if least > 1000 {
			wrong += fmt.Sprintf("%v after the start: %d ticks off\n", wait, least)
		}
		c.Note()
	}
	t.Log(c.Describe(), c.Test())
	return wrong
}

// A trial whose readings lie far apart, because there was other work, ends like one at once. Too many do no harm.
func TestTrial(t *testing.T) {
	var once, apart Clock
	once.Open()
	trial := apart.Begin()
	time.Sleep(time.Millisecond)
	for range 4 {
		trial.Read()
	}
	if read := trial.read; once.ticks && read != len(trial.at) {
		t.Errorf("%d readings", read)
	}
	if apart.ticks || apart.Counter.Load() {
		t.Error("the counter is in use before the trial has ended")
	}
	trial.End()
	if apart.ticks != once.ticks || apart.Counter.Load() != once.Counter.Load() {
		t.Errorf("%v, want %v", apart.Why, once.Why)
	}
	before, at, after := rateOf(&once), rateOf(&apart), rateOf(&once)
	if low, high := min(before, after)*0.99, max(before, after)*1.01; at < low || at > high {
		t.Errorf("%.0f Hz, want %.0f to %.0f", at, low, high)
	}
}

func rateOf(c *Clock) float64 {
	if !c.ticks {
		return 0
	}
	l := c.Line.Load()
	return rate(l.origin, l.latest)
}

// A counter that ticks at another rate in the second interval, or hardly at all, is refused.
func TestTrialRefuses(t *testing.T) {
	for _, tt := range []struct {
		ticks   [3]uint64
		refused bool
	}{{[3]uint64{0, 400_000, 800_000}, false}, {[3]uint64{0, 400_000, 850_000}, true}, {[3]uint64{0, 100, 200}, true}, {[3]uint64{0, 0, 0}, true}} {
		trial := Trial{clock: new(Clock), read: 3}
		for i, ticks := range tt.ticks {
			trial.at[i] = reading{counter: ticks, monotonic: 1 + uint64(i)*200_000}
		}
		if trial.End(); trial.clock.ticks == tt.refused || (trial.clock.Why != nil) != tt.refused {
			t.Errorf("%v: refused: %v, want %v", tt.ticks, trial.clock.Why, tt.refused)
		}
	}
}

// The clocks are compared again and again; one that has not jumped stays in use.
func TestCounterStays(t *testing.T) {
	var c Clock
	c.Open()
	if !c.ticks {
		t.Logf("no counter here: %v", c.Why)
		return
	}
	for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		if c.Anchor(); time.Now().Nanosecond()%7 == 0 {
			c.Note()
		}
	}
	if c.Jumped() {
		t.Error("given up")
	}
}

// Ticks of years are as exact as by a division in 128 bits.
func TestTicksOfYears(t *testing.T) {
	for _, rate := range []uint64{minRate, 24e6, 2_596_123_457, maxRate} {
		for _, lived := range []uint64{200_000, 1e9, 1e15} { // ns
			l := newLine(reading{counter: 77, monotonic: 1e9}, reading{counter: 77 + scale(lived, rate, 1e9), monotonic: 1e9 + lived})
			for _, ns := range []uint64{0, 1, 999, 1e9, 86_400e9, 4 * 365 * 86_400e9} {
				want := scale(ns, l.latest.counter-l.origin.counter, l.latest.monotonic-l.origin.monotonic)
				if got := l.Ticks(ns); got > want || want-got > 1 {
					t.Errorf("%d Hz, after %d ns: %d ns are %d ticks, want %d", rate, lived, ns, got, want)
				}
			}
		}
	}
}
