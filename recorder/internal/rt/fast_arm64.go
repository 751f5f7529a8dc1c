//go:build linux && !gprof_portable && !go1.28

package rt

// kernelCounter is the clock source that reads the generic timer's counter.
const kernelCounter = "arch_sys_counter"

// counterInvariant is nil: the architecture demands one rate of the counter.
func counterInvariant() error { return nil }
