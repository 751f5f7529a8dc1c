//go:build unix

package bench

import (
	"syscall"
	"time"
)

// cpuTime is the process' own, on all cores: what a busy machine doesn't change.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("internal error: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
