package recorder

import "gprof/recorder/internal/rt"

// Time is a moment on the clock of this process' recordings: nanoseconds of the
// monotonic clock since this package was initialised.
type Time = rt.Time

// Now is the present moment.
func Now() Time { return rt.Now() }
