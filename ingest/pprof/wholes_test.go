package pprof

import (
	"math/rand/v2"
	"testing"
)

// Stacks are found by the whole of their sites only, most of those that were added, and none beyond the limit.
func TestWholes(t *testing.T) {
	const limit = 64 << 10
	for _, hashes := range []uint32{1 << 31, 100, 1} {
		var w wholes
		added := map[stackID][]siteID{}
		r := rand.New(rand.NewPCG(1, 1))
		for id := stackID(1); id <= 3000; id++ {
			path := []siteID{siteID(id), siteID(r.Int32N(5)), 7}[:1+r.IntN(3)]
			hash := uint32(id) * 0x9e3779b9 % hashes
			if got := w.find(hash, path); got != 0 {
				t.Fatalf("%v is stack %d before it is added", path, got)
			}
			w.add(hash, path, id, limit)
			added[id] = path
		}
		found := 0
		for id, path := range added {
			hash := uint32(id) * 0x9e3779b9 % hashes
			w.approach([]uint32{hash})
			switch got := w.find(hash, path); got {
			case id:
				found++
			case 0:
			default:
				t.Fatalf("%v is stack %d, want %d", path, got, id)
			}
		}
		if least := min(1000, int(hashes)); found < least || found == len(added) || w.bytes() > 2*limit {
			t.Errorf("of %d hashes: %d of %d found, in %d bytes; want at least %d", hashes, found, len(added), w.bytes(), least)
		}
	}
}
