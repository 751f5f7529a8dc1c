package decode

import (
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
)

// A ring that has given up chunks says so by its range start. The earliest time is then
// the beginning of the oldest chunk by its place in the range: not one that the range
// start has passed, nor the first in the list.
func TestEarliest(t *testing.T) {
	image := func(base, opened uint64) *chunks.Image {
		return &chunks.Image{Header: rawformat.Header{RangeStart: base, Open: rawformat.Anchor{Monotonic: opened}}}
	}
	p := &chunks.Process{Held: 4097, Chunks: []*chunks.Image{image(12289, 900), image(4097, 700), image(1, 100), image(8193, 800)}}
	if row := Describe(p, Fixed(5000)); row.Earliest != 5700 {
		t.Errorf("earliest %d, want 5700", row.Earliest)
	}
	p.Held = 1
	if row := Describe(p, Fixed(5000)); row.Earliest != 0 {
		t.Errorf("nothing was given up, earliest %d", row.Earliest)
	}
	p.Held = 1 << 20
	if row := Describe(p, Fixed(5000)); row.Earliest != 0 {
		t.Errorf("nothing is left, earliest %d", row.Earliest)
	}
}
