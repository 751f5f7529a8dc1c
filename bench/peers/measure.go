//go:build linux

package main

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// line is something that is measured.
type line struct {
	name       string
	goroutines int
	run        func(n int)   // does it n times; all goroutines run it at once
	around     func() func() // prepares a round, and returns what ends it; nil: nothing
}

// cost is what one operation of a line takes.
type cost struct {
	NS     float64 // of CPU time
	Allocs float64
}

// A round counts if nothing interrupted it and its goroutines ran at the same time, on
// as many processors as there are for them: only then do they contend. Nor may a
// hypervisor have taken a processor away meanwhile, since it comes back with cold
// caches. Rounds are long enough for garbage collections in lines that allocate, and
// short enough for some to count on a busy machine.
//
// The figure is the lower quartile of the rounds that count, for our lines and the
// peers'. Other users of the core, its caches and its clock rate make rounds dearer,
// never cheaper, now for one line and now for another, so a median would measure them
// as well.
const (
	roundTime = 5 * time.Millisecond
	enough    = 60 // rounds that count
	atLeast   = 12
	atOnce    = 0.85
	patience  = 90 * time.Second
)

// rounds are how many there were, by what became of them.
type rounds struct{ Counted, Interrupted, Stolen int }

func (r *rounds) add(o rounds) {
	r.Counted += o.Counted
	r.Interrupted += o.Interrupted
	r.Stolen += o.Stolen
}

// measured is what came of some lines. Those of which too few rounds count are not in
// it.
type measured struct {
	Costs  map[string]cost
	Rounds rounds
}

// measure measures lines in turns.
func measure(lines []line) measured {
	each, took := make([]int, len(lines)), make([][]float64, len(lines))
	for _, l := range lines {
		l.round(1)
	}
	time.Sleep(time.Second) // stacks get their ids, and chunks are made
	for i, l := range lines {
		each[i] = l.calibrate()
	}
	m, missing := measured{Costs: map[string]cost{}}, true
	for start := time.Now(); missing && time.Since(start) < patience; {
		missing = false
		for i, l := range lines {
			if len(took[i]) >= enough {
				continue
			}
			missing = true
			if cpu, counts := l.watched(each[i], &m.Rounds); counts {
				took[i] = append(took[i], float64(cpu)/float64(each[i]*l.goroutines))
			}
		}
	}
	for i, l := range lines {
		if n := len(took[i]); n >= atLeast {
			slices.Sort(took[i])
			m.Costs[l.name] = cost{NS: took[i][n/4], Allocs: l.allocations()}
		}
	}
	return m
}

// calibrate is how many operations of each goroutine are a round.
func (l line) calibrate() int {
	want := roundTime
	if l.goroutines > 1 { // as many take turns on each processor
		want = roundTime * time.Duration(min(l.goroutines, runtime.GOMAXPROCS(0))) / time.Duration(l.goroutines)
	}
	l.goroutines = 1
	for n := 64; ; n *= 2 {
		if l.least(n) > want/2 || n > 1<<24 {
			return n
		}
	}
}

// least is the CPU time of the cheapest of some rounds. Other work of the process
// makes a round longer. One that is taken for long enough because of that measures
// only goroutines that start and end.
func (l line) least(n int) time.Duration {
	least, _ := l.round(n)
	for range 3 {
		took, _ := l.round(n)
		least = min(least, took)
	}
	return least
}

// watched is a round that is noted in all.
func (l line) watched(n int, all *rounds) (cpu time.Duration, counts bool) {
	before := stolen()
	cpu, counts = l.round(n)
	switch {
	case stolen() != before:
		all.Stolen++
		return cpu, false
	case counts:
		all.Counted++
	default:
		all.Interrupted++
	}
	return cpu, counts
}

// round is the CPU time of n operations of each goroutine, and whether it was without
// interruption.
func (l line) round(n int) (cpu time.Duration, counts bool) {
	if l.around != nil {
		defer l.around()()
	}
	processors := min(l.goroutines, runtime.GOMAXPROCS(0))
	var start time.Time
	var before time.Duration
	var waiting atomic.Int32 // for all processors to be there
	var begun atomic.Bool
	var all sync.WaitGroup
	for range l.goroutines {
		all.Go(func() {
			if int(waiting.Add(1)) == processors {
				start, before = time.Now(), cpuTime()
				begun.Store(true)
			}
			for !begun.Load() {
			}
			l.run(n)
		})
	}
	all.Wait()
	cpu = cpuTime() - before
	return cpu, float64(cpu) >= atOnce*float64(processors)*float64(time.Since(start))
}

// allocations is how often an operation allocates.
func (l line) allocations() float64 {
	const n = 2000
	if l.around != nil {
		defer l.around()()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l.run(n)
	runtime.ReadMemStats(&after)
	return float64((after.Mallocs-before.Mallocs)/(n/10)) / 10
}

// cpuTime is that of the process.
func cpuTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		panic("internal error: " + err.Error())
	}
	return time.Duration(ts.Nano())
}

// stolen is how long the processors were a hypervisor's, in ticks of the kernel; 0 where
// it does not tell.
func stolen() (ticks int) {
	text, _ := os.ReadFile("/proc/stat")
	all, _, _ := strings.Cut(string(text), "\n")
	if fields := strings.Fields(all); len(fields) > 8 {
		ticks, _ = strconv.Atoi(fields[8]) // digits, by the kernel
	}
	return ticks
}
