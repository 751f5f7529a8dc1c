package decode

import (
	"testing"

	"gprof/rawformat"
	"gprof/stream"
)

// Readers know counters by the names that recorders give them.
func TestCounterNames(t *testing.T) {
	if stream.CounterGroupMemory != rawformat.CounterGroupMemory || stream.CounterRSS != rawformat.CounterRSS {
		t.Errorf("stream knows %q and %q, recorders write %q and %q", stream.CounterGroupMemory, stream.CounterRSS, rawformat.CounterGroupMemory, rawformat.CounterRSS)
	}
}
