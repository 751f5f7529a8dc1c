package attach

import (
	"golang.org/x/sys/unix"

	"gprof/rawformat"
)

// anchor reads the clocks.
func anchor() rawformat.Anchor {
	return rawformat.Anchor{Monotonic: uint64(readClock(unix.CLOCK_MONOTONIC)), Realtime: readClock(unix.CLOCK_REALTIME)}
}

// readClock is a clock in ns, 0 if there is none.
func readClock(id int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0
	}
	return t.Nano()
}
