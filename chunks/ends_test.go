package chunks

import (
	"testing"

	"gprof/rawformat"
)

// A slice up to the end of a recording holds that, whatever was closed before it and left out. One that ends before has left out
// the rest of a chunk, or an open one.
func TestEndsLeftOut(t *testing.T) {
	image := func(epoch, start uint64, closed bool) *Image {
		return &Image{Header: rawformat.Header{Epoch: epoch, RangeStart: start, Capacity: 100, Commit: rawformat.MakeCommit(100, 5)}, Closed: closed}
	}
	empty := image(2, 101, false)
	empty.Header.Commit = 0
	for name, c := range map[string]struct {
		kept, left []*Image
		want       bool
	}{
		"nothing left out":           {[]*Image{image(1, 1, false)}, nil, false},
		"closed, by another writer":  {[]*Image{image(1, 1, false)}, []*Image{image(2, 101, true)}, false},
		"the front":                  {[]*Image{image(1, 101, true)}, []*Image{image(1, 1, false)}, false},
		"the rest":                   {[]*Image{image(1, 1, true)}, []*Image{image(1, 101, false)}, true},
		"a later one":                {[]*Image{image(1, 1, true)}, []*Image{image(2, 101, true), image(3, 201, false)}, true},
		"everything":                 {nil, []*Image{image(1, 1, true), image(2, 101, false)}, true},
		"one in which nothing began": {[]*Image{image(1, 1, false)}, []*Image{empty}, false},
	} {
		p := &Process{Chunks: c.kept, LeftOut: c.left}
		if got := p.EndsLeftOut(); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
