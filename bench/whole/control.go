//go:build linux

package main

import (
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// plantedShare of the CPU time of each request is burnt by the control.
const plantedShare = 0.005

var planted control

// control burns a known time in each request.
type control struct {
	turns atomic.Int64 // of the loop, for each request; 0: it is off
	known int64        // what is burnt when it is on
}

func (c *control) burn() { spin(c.turns.Load()) }

func (c *control) on() error { c.turns.Store(c.known); return nil }
func (c *control) off()      { c.turns.Store(0) }

// calibrate makes it burn its share of that time.
func (c *control) calibrate(request time.Duration) {
	const turns = 100000
	took := make([]time.Duration, 21)
	for i := range took {
		start := threadTime()
		spin(turns)
		took[i] = threadTime() - start
	}
	c.known = int64(plantedShare * float64(request) * turns / float64(slices.Min(took)))
}

var spun atomic.Uint64

//go:noinline
func spin(turns int64) {
	if turns == 0 {
		return
	}
	x := uint64(turns) | 1
	for range turns {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		spun.Add(1) // never: the loop must have a result
	}
}

func threadTime() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}
