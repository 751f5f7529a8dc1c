package counters

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Measure does the recorder's work on a thread that is not its own, and returns the CPU time that it took there.
func Measure(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	work()
	return threadTime() - before
}

func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
