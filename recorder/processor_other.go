//go:build !linux && !darwin && !windows

package recorder

// cpuName is what the system calls its processor: unknown here.
func cpuName() string { return "" }

// cores is how many cores the machine has: unknown here.
func cores() int { return 0 }
