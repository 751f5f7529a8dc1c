package rawformat

import (
	"math"
	"testing"
)

// The CPU time of a busy-for block comes back, to half a unit. Impossible values saturate, and none is negative.
func TestBusyTime(t *testing.T) {
	for _, period := range []uint64{1, 1_000, 10_000_000} {
		for _, cpu := range []uint64{0, 1, 32_767, 32_768, 65_535, 9_900_000, 10_000_000, 10_032_767, 10_032_768, 3e12} {
			got := BusyTime(period, BusyExcess(cpu, period))
			if d := int64(got - cpu); d > CPUUnit/2 || d < -CPUUnit/2 {
				t.Errorf("%d ns in a period of %d become %d", cpu, period, got)
			}
		}
	}
	for _, period := range []uint64{0, 1e7, math.MaxUint64} {
		for _, excess := range []int64{math.MinInt64, -1 << 32, -1, 1, 1 << 32, math.MaxInt64} {
			if got := BusyTime(period, excess); got > math.MaxInt64 || excess == math.MinInt64 && period < 1<<60 && got != 0 || excess > 1 && got < 1<<48 {
				t.Errorf("excess %d of period %d is %d ns", excess, period, got)
			}
		}
	}
}
