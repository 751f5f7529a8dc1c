package durations

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gprof/stream"
)

// Buckets follow each other without a gap, and are precise enough.
func TestBuckets(t *testing.T) {
	last := -1
	for _, ns := range []int64{0, 1, 2, 127, 128, 255, 256, 257, 258, 511, 512, 1023, 1024, 1e6, 1e9, 86400e9, 1 << 62, math.MaxInt64} {
		bucket := bucketOf(ns)
		if bucket < last || bucket >= numBuckets {
			t.Errorf("bucket of %d is %d, after %d of %d", ns, bucket, last, numBuckets)
		}
		last = bucket
		if off := math.Abs(float64(Middle(bucket)) - float64(ns)); off > float64(ns)*Precision {
			t.Errorf("%d ns is %d: off by %g", ns, Middle(bucket), off/float64(ns))
		}
	}
	for bucket := range numBuckets {
		if bucketOf(Middle(bucket)) != bucket {
			t.Fatalf("bucket %d holds %d, which is of bucket %d", bucket, Middle(bucket), bucketOf(Middle(bucket)))
		}
	}
}

// Quantiles are those of the sorted list, also after sums were added up.
func TestQuantiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var all []int64
	var sum Sum
	for range 7 {
		var spans Spans
		for range 1000 {
			ns := int64(math.Exp(random.NormFloat64()*2 + 12))
			all = append(all, ns)
			spans.Add(&stream.Batch{Time: []stream.Time{0}, Phase: []stream.Phase{stream.Interval}, Duration: []int64{ns}})
		}
		sum.Add(spans.Take().Took)
	}
	slices.Sort(all)
	for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 1} {
		want := float64(all[max(0, int(math.Ceil(q*7000))-1)])
		if got := float64(sum.Quantile(q)); math.Abs(got-want) > want*Precision {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	if sum.Min != all[0] || sum.Max != all[6999] || sum.Count != 7000 {
		t.Errorf("%d from %d to %d, want 7000 from %d to %d", sum.Count, sum.Min, sum.Max, all[0], all[6999])
	}
}

// A single duration is exact.
func TestOne(t *testing.T) {
	var spans Spans
	spans.Add(&stream.Batch{Time: []stream.Time{0}, Phase: []stream.Phase{stream.Interval}, Duration: []int64{1_000_001}})
	if sum := spans.Take().Took; sum.Quantile(0.5) != 1_000_001 {
		t.Errorf("the only duration is %d", sum.Quantile(0.5))
	}
	if sum := spans.Take(); sum.Count != 0 || sum.Took.Quantile(0.5) != 0 {
		t.Errorf("nothing is %+v", sum)
	}
}

// Starts and ends are paired from the inside; those without a partner are counted.
func TestPairs(t *testing.T) {
	var spans Spans
	add := func(phase stream.Phase, at stream.Time, duration int64) {
		spans.Add(&stream.Batch{Time: []stream.Time{at}, Phase: []stream.Phase{phase}, Duration: []int64{duration}})
	}
	add(stream.PhaseEnd, 1, 0) // its start is lost
	add(stream.PhaseStart, 10, 0)
	add(stream.PhaseStart, 20, 0)
	add(stream.Instant, 21, 0)
	add(stream.PhaseEnd, 25, 0)
	add(stream.PhaseEnd, 40, 0)
	add(stream.Interval, 41, 7)
	add(stream.PhaseStart, 50, 0) // still open
	got := spans.Take()
	want := []Bucket{{5, 1}, {7, 1}, {30, 1}}
	if !slices.Equal(got.Took.Buckets, want) || got.Took.All != 42 {
		t.Errorf("took %v, %d ns; want %v, 42", got.Took.Buckets, got.Took.All, want)
	}
	if got.Count != 6 || got.Unpaired != 2 {
		t.Errorf("%d markers, %d unpaired; want 6, 2", got.Count, got.Unpaired)
	}
}

// Starts that never end do not take more and more memory.
func TestManyOpen(t *testing.T) {
	var spans Spans
	for at := range stream.Time(3 * maxOpen) {
		spans.Add(&stream.Batch{Time: []stream.Time{at}, Phase: []stream.Phase{stream.PhaseStart}, Duration: []int64{0}})
	}
	if len(spans.open) > maxOpen {
		t.Errorf("%d starts are held", len(spans.open))
	}
	if got := spans.Take(); got.Count != 3*maxOpen || got.Unpaired != 3*maxOpen {
		t.Errorf("%d markers, %d unpaired", got.Count, got.Unpaired)
	}
}
