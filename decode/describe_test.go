package decode

import (
	"testing"

	"gprof/rawformat"
	"gprof/stream"
)

// Readers know counters and events by the names that recorders give them.
func TestNames(t *testing.T) {
	for known, written := range map[string]string{
		stream.EventHeapPicture: rawformat.EventHeapPicture, stream.CounterGroupMemory: rawformat.CounterGroupMemory, stream.CounterRSS: rawformat.CounterRSS,
		stream.CounterProcessCPU: rawformat.CounterProcessCPU, stream.CounterRecorderCPU: rawformat.CounterRecorderCPU,
		stream.EventTrigger: rawformat.EventTrigger, stream.TriggerFired: rawformat.TriggerFired, stream.TriggerKept: rawformat.TriggerKept, stream.TriggerFailed: rawformat.TriggerFailed,
		stream.TriggerHeld: rawformat.TriggerHeld, stream.TriggerOff: rawformat.TriggerOff, stream.TriggerOn: rawformat.TriggerOn,
	} {
		if known != written {
			t.Errorf("stream knows %q, recorders write %q", known, written)
		}
	}
}
