package stream

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gprof/stream/internal/runs"
)

// Rows in any order are sorted, however far their times lie from each other, or one from all others.
func TestBatchSorter(t *testing.T) {
	var o batchSorter
	for _, n := range []int{1, 2, 20, radixRows - 1, radixRows, 4 * radixRows, 5000} {
		for _, span := range []uint64{1, 3, 256, 257, 1 << 20, 1 << 53, math.MaxUint64} {
			for _, far := range []int{-1, n / 2} {
				b := lateRows(n, span, far)
				want := make([]runs.Key, n)
				for i := range want {
					want[i] = b.key(i)
				}
				slices.SortFunc(want, runs.Key.Compare)
				o.sort(b)
				for i := range want {
					if b.key(i) != want[i] || b.Value[i] != int64(b.Index[i]) {
						t.Fatalf("%d rows, span %d, far one %d: row %d is %v with the value %d, want %v", n, span, far, i, b.key(i), b.Value[i], want[i])
					}
				}
			}
		}
	}
}

// lateRows is n rows that are in order but for a span, and for the row far.
func lateRows(n int, span uint64, far int) *Batch {
	r := rand.New(rand.NewPCG(uint64(n), span))
	b := &Batch{}
	b.Reset(Series{Process: 1, Kind: Counts, Counter: 1}, 0)
	for i := range n {
		at := uint64(i)*span/uint64(2*n) + r.Uint64N(span)
		if i == far {
			at = math.MaxUint64
		}
		b.Time, b.Index = append(b.Time, math.MinInt64+Time(at)), append(b.Index, r.Uint64())
		b.Value, b.Number = append(b.Value, int64(b.Index[i])), append(b.Number, 0)
	}
	return b
}
