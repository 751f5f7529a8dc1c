package rawformat

import "testing"

// Chained records match as long as each of them does, whatever the seed.
func TestChain(t *testing.T) {
	for generation := range uint32(3) {
		seed := MakeSeed(7, uint64(generation))
		var all []byte
		var begins []int
		for size := 1; size < 200; size += 13 {
			begins = append(begins, len(all))
			all = AppendRecord(all, make([]byte, size), 7, generation)
		}
		for _, at := range begins {
			seed.Chain(all[at:])
		}
		if !ChainFits(all) {
			t.Fatalf("generation %d: intact records don't fit", generation)
		}
		for i := range all {
			if all[i] ^= 4; ChainFits(all) {
				t.Fatalf("generation %d: records fit with a bit of byte %d flipped", generation, i)
			}
			all[i] ^= 4
		}
	}
}
