package recorder

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"gprof/rawformat"
)

// maxThreads bounds the counters of threads: Go programs rarely have more that
// do work, and each is a row on screen.
const maxThreads = 64

// systemMetrics are counters of the operating system.
type systemMetrics struct {
	statm   *os.File    // nil: none
	group   *groupMeter // nil: none
	threads map[int]bool
}

// probeSystem defines the operating system's counters.
func (r *Recorder) probeSystem() {
	m := &r.meter.system
	m.threads = map[int]bool{}
	r.probe(counterSpec{name: "process CPU", category: "CPU", description: "CPU time of all threads", unit: UnitNanoseconds, mode: 1},
		clockReader(unix.CLOCK_PROCESS_CPUTIME_ID))
	if f, err := os.Open("/proc/self/statm"); err == nil {
		m.statm = f
		r.probe(counterSpec{name: rawformat.CounterRSS, category: "Memory", description: "resident memory", unit: UnitBytes}, m.rss)
	}
	if m.group = openGroupMeter(ownMemoryGroup()); m.group != nil {
		r.probe(counterSpec{name: rawformat.CounterGroupMemory, category: "Memory", description: "memory of the cgroup, without inactive file pages", unit: UnitBytes}, m.group.read)
	}
	r.probeThreads()
}

// probeThreads defines counters for threads that have none.
func (r *Recorder) probeThreads() {
	m := &r.meter.system
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil || m.threads[tid] || len(m.threads) >= maxThreads {
			continue
		}
		m.threads[tid] = true
		comm, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/comm") // the thread may be gone: no name
		name := "thread " + task.Name() + " " + string(bytes.TrimSpace(comm))
		r.probe(counterSpec{name: name, category: "CPU", description: "CPU time of one thread", unit: UnitNanoseconds, mode: 1},
			clockReader(threadClock(tid)))
	}
}

// threadClock is the CPU clock of a thread: the kernel's encoding of a dynamic
// clock id, 6 being "thread" and "scheduler".
func threadClock(tid int) int32 { return int32(^tid<<3 | 6) }

// clockReader reads a CPU clock in ns. When its thread is gone the total stays.
func clockReader(id int32) func() int64 {
	last := int64(0)
	return func() int64 {
		var t unix.Timespec
		if unix.ClockGettime(id, &t) == nil {
			last = t.Nano()
		}
		return last
	}
}

// rss is the second number of statm, in pages.
func (m *systemMetrics) rss() int64 {
	var b [128]byte
	n, _ := m.statm.ReadAt(b[:], 0) // io.EOF: it is short
	fields := bytes.Fields(b[:n])
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64) // the kernel writes numbers
	return pages * int64(os.Getpagesize())
}

func (m *systemMetrics) close() error {
	var errs []error
	if m.statm != nil {
		errs = append(errs, m.statm.Close())
	}
	if m.group != nil {
		errs = append(errs, m.group.usage.Close())
	}
	return errors.Join(errs...)
}
