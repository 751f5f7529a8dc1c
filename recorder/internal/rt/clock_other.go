//go:build !linux

package rt

// clockName is the name of the clock in meta.
const clockName = "time.Since, from the wall clock at start"

// monotonic stands in for CLOCK_MONOTONIC, which Go does not show here: it runs
// as evenly, but begins at the Unix epoch.
func monotonic() uint64 { return uint64(base.UnixNano()) + uint64(Now()) }

func Boottime() uint64 { return 0 }
