package perf

import (
	"testing"

	"gprof/rawformat/perfevent"
)

// Counters that a file makes up take no more memory than those of any machine.
func TestCountsAreBounded(t *testing.T) {
	c := counts{}
	for id := range uint64(maxCounters) {
		if n, ok := c.since(&attr{}, 1, perfevent.Value{ID: id, Value: 5}); n != 5 || !ok {
			t.Fatalf("counter %d: %d, %v", id, n, ok)
		}
	}
	if _, ok := c.since(&attr{}, 1, perfevent.Value{ID: maxCounters, Value: 5}); ok {
		t.Error("one more is known")
	}
	if n, ok := c.since(&attr{}, 1, perfevent.Value{ID: 7, Value: 8}); n != 3 || !ok {
		t.Errorf("one that is known: %d, %v", n, ok)
	}
}
