package stream

import (
	"math"
	"strings"
	"testing"
)

// What rows are put in order by before they are compared agrees with comparing them.
func TestFirst(t *testing.T) {
	frames := []Frame{
		{}, {Function: 1}, {Module: 1}, {Module: 1, Offset: 1}, {Module: 1, Offset: 1, Depth: 1}, {Module: 1, Offset: math.MaxUint32 - 1},
		{Module: 1, Offset: math.MaxUint32}, {Module: 1, Offset: 1 << 32}, {Module: 1, Offset: math.MaxUint64}, {Module: 2}, {Module: math.MaxInt32},
		{Offset: 1}, {Offset: math.MaxUint64},
	}
	agree(t, frames, firstOfFrame, compareFrames)
	texts := []string{"", "\x00", "\x00\x00", "a", "a\x00", "aaaaaaa", "aaaaaaa\x00", "aaaaaaaa", "aaaaaaaaa", "b", "\x7f", "\x80", "\xff", "世界"}
	agree(t, texts, firstBytes, strings.Compare)
}

func agree[K any](t *testing.T, rows []K, first func(K) uint64, compare func(a, b K) int) {
	for _, a := range rows {
		for _, b := range rows {
			if first(a) < first(b) && compare(a, b) >= 0 {
				t.Errorf("%#v is first, and not less than %#v", a, b)
			}
		}
	}
}
