package recorder

import "time"

// Time is a moment on the clock of this process' recordings: nanoseconds of
// the monotonic clock since this package was initialised.
type Time int64

// base is read once: a [Time] stays valid from one recorder to the next.
var base = time.Now()

// Now is the present moment.
func Now() Time { return Time(time.Since(base)) }

// monotonicBase is what CLOCK_MONOTONIC showed at base, in ns. The clock can
// only be read beside Now, not with it: of some readings the one counts for
// which Now advanced least.
func monotonicBase() uint64 {
	var at uint64
	least := Time(1 << 62)
	for range 8 {
		before := Now()
		mono := monotonic()
		after := Now()
		if took := after - before; took < least {
			least = took
			at = mono - uint64(before+took/2)
		}
	}
	return at
}
