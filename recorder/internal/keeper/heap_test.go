package keeper

import (
	"testing"
	"time"

	"gprof/recorder/internal/rt"
)

// A reading of the heap that had to wait for a processor delays the next one by a second or
// two; if all take as long, they become as rare as they should be.
func TestHeapLooksThatWaited(t *testing.T) {
	const second = rt.Time(time.Second)
	h := &heapMeter{period: second / 2}
	after := func(took rt.Time) time.Duration {
		h.learn(took)
		return time.Duration(h.due() - h.begun)
	}
	if d := after(second / 10000); d != 500*time.Millisecond {
		t.Errorf("the next is due after %v", d)
	}
	if d := after(second / 10); d < time.Second || d > 2*time.Second {
		t.Errorf("after one that waited the next is due after %v", d)
	}
	for range 20 {
		h.learn(second / 10)
	}
	if d := after(second / 10); d != 100*time.Second {
		t.Errorf("after many that took 100 ms the next is due after %v", d)
	}
}
