package stream

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// resetPeak makes peak begin again, and returns the resident memory in bytes.
func resetPeak() int64 {
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	return peak()
}

// peak is the highest resident memory since resetPeak, in bytes.
func peak() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	kib, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
	return kib << 10
}

// cpuTime is what the process has used of the CPU.
func cpuTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
