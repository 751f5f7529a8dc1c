package decode

import (
	"testing"

	"gprof/rawformat"
	"gprof/stream"
)

// Readers know counters by the names that recorders give them.
func TestCounterNames(t *testing.T) {
	for known, written := range map[string]string{
		stream.CounterGroupMemory: rawformat.CounterGroupMemory, stream.CounterRSS: rawformat.CounterRSS,
		stream.CounterProcessCPU: rawformat.CounterProcessCPU, stream.CounterRecorderCPU: rawformat.CounterRecorderCPU,
	} {
		if known != written {
			t.Errorf("stream knows %q, recorders write %q", known, written)
		}
	}
}
