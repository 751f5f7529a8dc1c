package recorder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
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

// shift has the line say that the counter showed that many seconds more, or fewer,
// until now: as if it had jumped.
func (c *clock) shift(seconds int64) {
	l := *c.line.Load()
	by := uint64(int64(l.ticks(uint64(time.Second))) * seconds)
	l.origin.counter += by
	l.latest.counter += by
	c.line.Store(&l)
}

// A counter that jumps is given up at the next anchor. Times go on where they were,
// of markers, spans and samples, and the recording says what happened.
func TestCounterJumps(t *testing.T) {
	for _, seconds := range []int64{-3600, -1, 1, 3600} {
		r := beginInternal(t, Options{Limit: 4 << 20})
		if !r.clock.counter.Load() {
			t.Logf("no counter here: %v", r.clock.why)
			return
		}
		<-r.mapped
		span := probeEvent.Begin(1)
		r.clock.shift(seconds)
		span.begin = r.clock.at(Now()) // as it would have been
		for deadline := time.Now().Add(time.Minute); !r.clock.jumped() && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		before, at, after := r.clock.now(), r.clock.at(Now()), r.clock.now()
		if !r.clock.jumped() || at < before-1e8 || at > after+1e8 {
			t.Fatalf("%d s: jumped %v, %d is not between %d and %d", seconds, r.clock.jumped(), at, before, after)
		}
		a := r.clock.anchor()
		if off := tick(a.TSC) - r.clock.ofMonotonic(a.Monotonic); off != 0 {
			t.Errorf("%d s: anchor is %d ticks off", seconds, off)
		}
		span.End()
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
		if limit := r.clock.line.Load().ticks(uint64(2 * time.Minute)); !told || longest == 0 || longest > limit {
			t.Errorf("%d s: told %v, a span of %d ticks", seconds, told, longest)
		}
	}
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
