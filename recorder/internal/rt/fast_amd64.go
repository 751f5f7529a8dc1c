//go:build linux && !gprof_portable && !go1.28

package rt

import "errors"

// kernelCounter is the clock source that reads the time-stamp counter.
const kernelCounter = "tsc"

// powerFeatures is what the processor says of its power management: EDX of CPUID's leaf 0x80000007, which all
// 64-bit processors have.
func powerFeatures() uint32

// invariantCounter is the bit for a counter that ticks at one rate, whatever the processor's frequency, and while it
// sleeps. /proc/cpuinfo calls it constant_tsc and nonstop_tsc, but asks each processor for its frequency.
const invariantCounter = 1 << 8

// counterInvariant is nil if the counter ticks at one rate.
func counterInvariant() error {
	if powerFeatures()&invariantCounter == 0 {
		return errors.New("the processor does not promise a counter of one rate")
	}
	return nil
}
