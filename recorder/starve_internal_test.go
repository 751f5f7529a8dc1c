package recorder

import (
	"testing"
	"time"

	"gprof/chunks"
)

// Where idle writers have all chunks, one that has work gets theirs.
func TestIdleWritersGiveWay(t *testing.T) {
	r := beginInternal(t, Options{Limit: 1 << 20, ChunkSize: 64 << 10, CPU: CPUOff, HeapEvery: -1})
	claimAll(r)
	for i := range r.shards {
		r.retire(&r.shards[i])
	}
	var kept []*chunks.Chunk
	for deadline := time.Now().Add(time.Minute); ; {
		grows := r.ring.Low() // the keeper is to make more, or makes one
		if c := r.ring.Get(99, 1); c != nil {
			kept = append(kept, c)
			continue
		}
		if !grows && len(kept) >= len(r.shards)-1 {
			break
		}
		if time.Sleep(time.Millisecond); time.Now().After(deadline) {
			t.Fatalf("%d chunks for %d shards", len(kept), len(r.shards))
		}
	}
	for i := 1; i < len(r.shards); i++ { // the youngest, which nobody takes for laggards
		n := len(kept) - 1
		r.shards[i].hold(kept[n])
		kept = kept[:n]
	}
	hungry := &r.shards[0]
	disclaimAll(r)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if r.claim(hungry) {
			found := r.refill(hungry)
			disclaim(hungry)
			if found {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("no chunk")
		}
	}
	for _, c := range kept {
		r.ring.Release(c)
	}
}
