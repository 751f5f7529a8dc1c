//go:build linux

package main

import (
	"strings"
	"testing"
	"time"

	"gprof/recorder"
)

// Every line runs, and no row asks for a line that there isn't.
func TestLines(t *testing.T) {
	rec, err := recorder.Start(options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Stop()
	f := figures{costs: map[string]cost{}}
	for _, l := range lines(rec) {
		if cpu, _ := l.round(100); cpu <= 0 {
			t.Errorf("%s takes %v", l.name, cpu)
		}
		f.costs[l.name] = cost{NS: 1}
	}
	f.counterless = f.costs
	for _, r := range f.timeRows() {
		if strings.HasPrefix(r.takes, "not measured") {
			t.Errorf("%s: %s", r.what, r.takes)
		}
	}
}

// A line's cost is that of one goroutine, in CPU time and allocations.
func TestMeasure(t *testing.T) {
	work := func(n int) {
		for start := cpuTime(); cpuTime()-start < time.Duration(n)*10*time.Microsecond; {
		}
	}
	m := measure([]line{{name: "work", goroutines: 1, run: work}})
	c, ok := m.Costs["work"]
	if ok != (m.Rounds.Counted >= atLeast) || m.Rounds.Counted > enough {
		t.Errorf("%+v, and measured: %v", m.Rounds, ok)
	}
	if !ok {
		t.Log("the machine is too busy to measure anything")
		return
	}
	if c.NS < 9_900 || c.NS > 15_000 || c.Allocs != 0 {
		t.Errorf("10 µs of work take %.0f ns and allocate %.1f times", c.NS, c.Allocs)
	}
}

// A round has as many operations as take its time, also if one of those by which that is
// found out takes longer for another reason.
func TestCalibrate(t *testing.T) {
	burn := func(d time.Duration) {
		for start := cpuTime(); cpuTime()-start < d; {
		}
	}
	calls := 0
	l := line{goroutines: 1, run: func(n int) {
		if calls++; calls == 2 {
			burn(roundTime)
		}
		burn(time.Duration(n) * 10 * time.Microsecond)
	}}
	if n := l.calibrate(); n < 256 {
		t.Errorf("a round of %d operations of 10 µs, want %v", n, roundTime)
	}
}

// A marker and an interval are all that a recording of them is made of.
func TestSizes(t *testing.T) {
	s, err := markerBytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range (&figures{markers: s, samples: s}).byteRows()[:2] {
		if !r.reached {
			t.Errorf("%+v", r)
		}
	}
}
