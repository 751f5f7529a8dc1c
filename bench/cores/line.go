//go:build linux

package main

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// nearLine is how long a cache line takes at most from one core to another and back if they share a cache, in ns. On an AMD EPYC it
// took 64 to 110, and 370 to 410 between cores of two chiplets, of which a hypervisor chooses those of a virtual machine.
const nearLine = 200

const (
	lineTrips  = 10_000
	lineTrials = 20
)

// lineTime is how long a cache line takes from core 0 to core 1 and back, in ns: the least of some trials, as others may interrupt them.
func lineTime() (least float64, err error) {
	var line struct {
		_    [64]byte
		turn atomic.Uint64 // odd if it is core 1's
		_    [64]byte
	}
	stays, begin := make(chan error), make(chan struct{})
	var playing sync.WaitGroup
	play := func(core int, rounds func()) {
		playing.Go(func() {
			stays <- stayOn(core)
			if <-begin; err == nil {
				rounds()
			}
		})
	}
	least = math.Inf(1)
	play(0, func() {
		for turn := uint64(0); turn < 2*lineTrips*lineTrials; {
			begun := time.Now()
			for range lineTrips {
				line.turn.Store(turn + 1)
				for turn += 2; line.turn.Load() != turn; {
				}
			}
			least = min(least, float64(time.Since(begun).Nanoseconds())/lineTrips)
		}
	})
	play(1, func() {
		for turn := uint64(1); turn < 2*lineTrips*lineTrials; turn += 2 {
			for line.turn.Load() != turn {
			}
			line.turn.Store(turn + 1)
		}
	})
	err = errors.Join(<-stays, <-stays)
	close(begin)
	playing.Wait()
	return least, err
}
