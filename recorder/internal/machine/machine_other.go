//go:build !linux && !darwin && !windows

package machine

// CPUName is the system's name of the processor: unknown here.
func CPUName() string { return "" }

// Cores is how many cores the machine has: unknown here.
func Cores() int { return 0 }
