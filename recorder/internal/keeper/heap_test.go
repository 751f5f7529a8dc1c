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
	if h.next(100*second, second/10000); h.due != 100*second+second/2 {
		t.Errorf("the next is due at %v", time.Duration(h.due))
	}
	if h.next(200*second, second/10); h.due < 201*second || h.due > 202*second {
		t.Errorf("after one that waited the next is due at %v", time.Duration(h.due))
	}
	for range 20 {
		h.next(300*second, second/10)
	}
	if h.due != 400*second {
		t.Errorf("after many that took 100 ms the next is due at %v", time.Duration(h.due))
	}
}
