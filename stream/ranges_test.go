package stream

import (
	"math/rand/v2"
	"testing"
)

// Ranges behave as sets of positions.
func TestRanges(t *testing.T) {
	const size = 40
	random := rand.New(rand.NewPCG(1, 2))
	some := func() (Ranges, [size]bool) {
		var list []Range
		var set [size]bool
		for range random.IntN(6) {
			r := Range{From: random.Uint64N(size)}
			r.To = min(r.From+random.Uint64N(8), size)
			list = append(list, r)
			for i := r.From; i < r.To; i++ {
				set[i] = true
			}
		}
		return Union(list...), set
	}
	for range 5000 {
		a, inA := some()
		b, inB := some()
		rest := a.Minus(b)
		for i := range uint64(size) {
			if a.Has(i) != inA[i] || rest.Has(i) != (inA[i] && !inB[i]) {
				t.Fatalf("position %d: %v minus %v is %v", i, a, b, rest)
			}
		}
		for _, r := range []Ranges{a, rest} {
			end := uint64(0)
			for i, x := range r {
				if x.From >= x.To || i > 0 && x.From <= end {
					t.Fatalf("%v is not in order, or not apart", r)
				}
				end = x.To
			}
		}
	}
}
