package recorder

import (
	"testing"
	"time"
)

// A moment's tick is the one that the clock shows then, up to what somebody who
// comes between two readings takes.
func TestTicksOfTimes(t *testing.T) {
	var c clock
	c.open()
	for _, wait := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
		time.Sleep(wait)
		least := tick(1 << 62)
		for range 100 {
			before := c.now()
			at := c.at(Now())
			after := c.now()
			t.Log(at-before, after-at)
			off := max(before-at, at-after, 0)
			least = min(least, off)
		}
		if least > 1000 {
			t.Errorf("%v after the start: %d ticks off", wait, least)
		}
		c.note()
	}
	t.Log(c.describe(), c.test())
}

// The clocks are compared again and again; one that has not jumped stays in use.
func TestCounterStays(t *testing.T) {
	var c clock
	c.open()
	if !c.ticks {
		t.Logf("no counter here: %v", c.why)
		return
	}
	for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		if c.anchor(); time.Now().Nanosecond()%7 == 0 {
			c.note()
		}
	}
	if c.jumped() {
		t.Error("given up")
	}
}
