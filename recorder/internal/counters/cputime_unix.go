//go:build unix && !linux

package counters

import "golang.org/x/sys/unix"

// processCPU is the CPU time of all threads, in ns.
func processCPU() (int64, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano(), err
}
