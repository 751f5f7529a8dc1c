package rt

import "golang.org/x/sys/unix"

// clockName is the name of the clock in meta.
const clockName = "CLOCK_MONOTONIC by time.Since"

// monotonic is CLOCK_MONOTONIC in ns.
func monotonic() uint64 { return ReadClock(unix.CLOCK_MONOTONIC) }

// Boottime is CLOCK_BOOTTIME in ns, which counts while the machine is
// suspended.
func Boottime() uint64 { return ReadClock(unix.CLOCK_BOOTTIME) }

func ReadClock(id int32) uint64 {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0
	}
	return uint64(t.Nano())
}
