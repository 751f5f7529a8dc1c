package keeper

import (
	"testing"
	"time"
)

// What is written at once, up to a quarter of the limit and 4 MiB, overwrites nothing
// before the ring is as large as its limit, if the keeper comes in between.
func TestBurstsBelowTheLimit(t *testing.T) {
	for limit, chunk := range map[int64]int64{1 << 20: 64 << 10, 4 << 20: 256 << 10, 32 << 20: 256 << 10} {
		k, _ := begin(t, Config{Limit: limit})
		<-k.mapped
		ready := uint64(min(burst, limit/minChunks) - 2*chunk) // what the writer has, and the keeper takes
		bursts := 0
		for ; k.ring.Discarded() == 0 && k.ring.RangeEnd() < 2*uint64(limit); bursts++ {
			awaitSpares(t, k)
			until := k.ring.RangeEnd() + ready
			for n := 0; k.ring.RangeEnd() < until; n++ {
				mark(probe, n)
			}
		}
		written := float64(k.ring.RangeEnd()) / float64(limit)
		stop(t, k)
		t.Logf("limit %d MiB: the first chunk was overwritten after %d bursts, %.0f %% of the limit", limit>>20, bursts, 100*written)
		if written < 0.8 { // the dictionary counts, too
			t.Errorf("limit %d: the first chunk was overwritten when %.2f of it was written", limit, written)
		}
	}
}

// awaitSpares waits until the keeper has prepared what it should, or the ring has
// its size.
func awaitSpares(t *testing.T, k *Keeper) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); k.ring.Low(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatal("no chunks are prepared")
		}
	}
}
