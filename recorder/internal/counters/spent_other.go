//go:build !linux

package counters

import "time"

// Measure does the recorder's work on a thread that is not its own, and returns the CPU time that it took there; 0 if
// that can't be known.
func Measure(work func()) time.Duration {
	work()
	return 0
}
