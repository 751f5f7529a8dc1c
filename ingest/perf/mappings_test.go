package perf

import (
	"math/rand/v2"
	"testing"
)

// Many mappings, some of them beneath later ones, are found as if they were gone through one by one.
func TestManyMappings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		p := &process{maps: make([]mapping, fewMappings+r.IntN(300))}
		for i := range p.maps {
			start := r.Uint64N(2000)
			p.maps[i] = mapping{start: start, end: start + r.Uint64N(1<<r.Uint64N(11)), file: int32(i)}
			if r.IntN(100) == 0 {
				p.maps[i] = mapping{file: -1}
			}
		}
		listed := &process{maps: p.maps, index: newMappings(p.maps)}
		for range 2000 {
			version, address := r.IntN(len(p.maps)+1), r.Uint64N(4000)
			if got, want := listed.last(version, address), p.last(version, address); got != want {
				t.Fatalf("address %d of %d mappings is of mapping %d, want %d", address, version, got, want)
			}
		}
	}
}

// No mapping has a range.
func TestEmptyMappings(t *testing.T) {
	p := &process{maps: make([]mapping, 2), index: newMappings(make([]mapping, 2))}
	if i := p.last(2, 0); i != -1 {
		t.Errorf("mapping %d", i)
	}
}
