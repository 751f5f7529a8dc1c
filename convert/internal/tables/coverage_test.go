package tables

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gprof/stream"
)

// The range of a position is the last one that begins at or before it, the first one if none
// does: for ranges of equal length as those of a recording, and for those of a hostile one.
func TestCoveragePlace(t *testing.T) {
	even, far := []uint64{}, []uint64{0}
	for i := range uint64(500) {
		even = append(even, 4096+i*65536)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for shift := range 64 {
		far = append(far, 1<<shift, 1<<shift+1, math.MaxUint64-1<<shift, r.Uint64())
	}
	slices.Sort(far)
	for name, starts := range map[string][]uint64{"even": even, "far": slices.Compact(far), "one": {7}, "last": {math.MaxUint64 - 1}} {
		p := stream.Process{}
		at := []uint64{0, math.MaxUint64}
		for _, from := range starts {
			p.Read = append(p.Read, stream.Range{From: from, To: from + 1})
			at = append(at, from-1, from, from+1, from+40000)
		}
		c := coverageOf(&p)
		if len(c.steps) > 8*len(starts)+2 {
			t.Errorf("%s: %d steps", name, len(c.steps))
		}
		for _, index := range at {
			want := 0
			for i, from := range starts {
				if from <= index {
					want = i
				}
			}
			if got := c.place(index); got != want {
				t.Fatalf("%s: %d is in range %d, want %d", name, index, got, want)
			}
		}
	}
}
