package recorder

import (
	"testing"
	"time"
)

var bursting = NewEvent2("bursting", Int("round"), Int("n"))

// What is written at once, up to a quarter of the limit and 4 MiB, overwrites nothing
// before the ring is as large as its limit, if the keeper comes in between.
func TestBurstsBelowTheLimit(t *testing.T) {
	for limit, chunk := range map[int64]int64{1 << 20: 64 << 10, 4 << 20: 256 << 10, 32 << 20: 256 << 10} {
		r := beginInternal(t, Options{Limit: limit, CPU: CPUOff})
		<-r.mapped
		ready := uint64(min(burst, limit/minChunks) - 2*chunk) // what the writer has, and the keeper takes
		bursts := 0
		for ; r.ring.Discarded() == 0 && r.ring.RangeEnd() < 2*uint64(limit); bursts++ {
			awaitSpares(t, r)
			until := r.ring.RangeEnd() + ready
			for n := 0; r.ring.RangeEnd() < until; n++ {
				bursting.Mark(bursts, n)
			}
		}
		written := float64(r.ring.RangeEnd()) / float64(limit)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		t.Logf("limit %d MiB: the first chunk was overwritten after %d bursts, %.0f %% of the limit", limit>>20, bursts, 100*written)
		if written < 0.8 { // the dictionary counts, too
			t.Errorf("limit %d: the first chunk was overwritten when %.2f of it was written", limit, written)
		}
	}
}

// awaitSpares waits until the keeper has prepared what it should, or the ring has
// its size.
func awaitSpares(t *testing.T, r *Recorder) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); r.ring.Low(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatal("no chunks are prepared")
		}
	}
}
