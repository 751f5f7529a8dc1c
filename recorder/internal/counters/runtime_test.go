package counters

import (
	"math"
	"runtime/metrics"
	"testing"
)

// The latency is that of the values added since the last reading, rounded up to the end of the bucket.
func TestLatency(t *testing.T) {
	var m runtimeMetrics
	look := func(counts ...uint64) int64 {
		return m.latency(&metrics.Float64Histogram{Counts: counts, Buckets: []float64{math.Inf(-1), 0, 1e-6, 1e-3, math.Inf(1)}})
	}
	for _, tt := range []struct {
		counts []uint64
		want   int64
	}{
		{[]uint64{0, 1000, 1, 0}, 1000},    // from before the first reading
		{[]uint64{0, 1000, 1, 0}, 0},       // nobody waited
		{[]uint64{0, 1000, 2, 0}, 1e6},     // one did
		{[]uint64{0, 1099, 3, 0}, 1000},    // one of 100 is above the 99th percentile
		{[]uint64{0, 1197, 5, 0}, 1e6},     // two are
		{[]uint64{0, 1197, 5, 5}, 1000000}, // without an upper bound
		{[]uint64{1, 1197, 5, 5}, 0},
	} {
		if got := look(tt.counts...); got != tt.want {
			t.Errorf("%v: %d ns, want %d", tt.counts, got, tt.want)
		}
	}
	if got := m.latency(&metrics.Float64Histogram{Counts: []uint64{5}, Buckets: []float64{0, 1}}); got != 1e9 { // another runtime
		t.Error(got)
	}
}
