package viewer

import (
	"time"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// monotonicKeys are the members of meta that say what the machine's monotonic clock
// read at its startTime, in ns, by the system that p.OS names: as Go does, or as Firefox.
// Windows counts in a unit of the machine's own.
var monotonicKeys = map[string]string{
	"linux": monotonicKey, "android": monotonicKey, "X11": monotonicKey, "Android": monotonicKey,
	"darwin": machKey, "Macintosh": machKey,
}

const (
	monotonicKey = "startTimeAsClockMonotonicNanosecondsSinceBoot"
	machKey      = "startTimeAsMachAbsoluteTimeNanoseconds"
)

// WriteClock writes that member for a process whose meta says start, if it is known: by
// it profiles of one machine can be put together exactly. Where the wall clock
// was set or adjusted meanwhile, only a start beside the first reading is.
func WriteClock(out *jsontext.Writer, p *stream.Process, start stream.Time) {
	key, c := monotonicKeys[p.OS], &p.Clock
	before := int64(c.First - start)
	if beside := 0 <= before && before < int64(time.Millisecond); c.By == stream.PlacedByHost || c.Pieces > 1 && !beside {
		return
	}
	if key != "" && c.Monotonic > max(0, before) {
		number(out, key, c.Monotonic-before)
	}
}
