//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime is that of the process, on all cores.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("internal error: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
