package rt

import (
	"testing"
	"time"
)

// The tick of a moment is the one that the clock shows then, except for interruptions between two readings.
func TestTicksOfTimes(t *testing.T) {
	var c Clock
	c.Open()
	for _, wait := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
		time.Sleep(wait)
		least := Tick(1 << 62)
		for range 100 {
			before := c.Now()
			at := c.At(Now())
			after := c.Now()
			t.Log(at-before, after-at)
			off := max(before-at, at-after, 0)
			least = min(least, off)
		}
		if least > 1000 {
			t.Errorf("%v after the start: %d ticks off", wait, least)
		}
		c.Note()
	}
	t.Log(c.Describe(), c.Test())
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
