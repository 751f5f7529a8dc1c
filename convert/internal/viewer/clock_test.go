package viewer

import (
	"bytes"
	"testing"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// The reading of the monotonic clock is that at the start of the output, under the name
// that Gecko has for it on the system; unknown ones are left out.
func TestWriteClock(t *testing.T) {
	const first, reading = stream.Time(1_000_000_000), 77_000_000_000
	clock := func(by string, pieces int) stream.Clock {
		return stream.Clock{By: by, Pieces: pieces, First: first, Monotonic: reading}
	}
	for _, tt := range []struct {
		os    string
		clock stream.Clock
		start stream.Time
		want  string
	}{
		{"linux", clock(stream.PlacedByBoot, 1), first - 400, `{"startTimeAsClockMonotonicNanosecondsSinceBoot":76999999600}`},
		{"linux", clock(stream.PlacedByBoot, 1), first - 5_000_000_000, `{"startTimeAsClockMonotonicNanosecondsSinceBoot":72000000000}`},
		{"linux", clock(stream.PlacedByBoot, 1), first + 7, `{"startTimeAsClockMonotonicNanosecondsSinceBoot":77000000007}`},
		{"Macintosh", clock("profile", 1), first, `{"startTimeAsMachAbsoluteTimeNanoseconds":77000000000}`},
		{"linux", clock(stream.PlacedByBoot, 2), first - 400, `{"startTimeAsClockMonotonicNanosecondsSinceBoot":76999999600}`},
		{"linux", clock(stream.PlacedByBoot, 2), first - 5_000_000, `{}`}, // the clock was set meanwhile
		{"linux", clock(stream.PlacedByHost, 1), first, `{}`},             // that of a namespace
		{"windows", clock(stream.PlacedByBoot, 1), first, `{}`},
		{"linux", stream.Clock{By: stream.PlacedByBoot, First: first}, first, `{}`},
		{"linux", clock(stream.PlacedByBoot, 1), first - 2*reading, `{}`}, // before the machine was
	} {
		var text bytes.Buffer
		out := jsontext.NewWriter(&text)
		out.BeginObject()
		WriteClock(out, &stream.Process{OS: tt.os, Clock: tt.clock}, tt.start)
		out.EndObject()
		if err := out.Flush(); err != nil || text.String() != tt.want {
			t.Errorf("%s, %+v at %d: %s, %v; want %s", tt.os, tt.clock, tt.start, text.String(), err, tt.want)
		}
	}
}
