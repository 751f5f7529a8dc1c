// Package durations sums up how long things took: how many, in all, and the
// times that a share of them stayed below. What it keeps does not grow with
// their number.
package durations

import (
	"math"
	"math/bits"
	"slices"
)

// precision is how many bits of a duration tell buckets apart: what a bucket
// says is off by a 256th at most.
const precision = 7

// numBuckets is how many there are up to the longest duration.
const numBuckets = (63-precision)<<precision + 1<<precision

// Precision is by how much, at most, a quantile differs from the duration that
// it stands for, as a share of it.
const Precision = 1.0 / (2 << precision)

// bucketOf is the bucket of a duration. Below 256 ns each has its own.
func bucketOf(ns int64) int {
	shift := max(0, bits.Len64(uint64(ns))-precision-1)
	return shift<<precision + int(ns>>shift)
}

// Middle is a duration in the middle of a bucket, in ns.
func Middle(bucket int) int64 {
	shift := max(0, bucket>>precision-1)
	low := int64(bucket-shift<<precision) << shift
	return low + int64(1)<<shift/2
}

// Sum is what some durations add up to. The zero Sum is of none.
type Sum struct {
	Count    int64
	All      int64 // ns, of all of them; it stops at the largest number
	Min, Max int64 // ns
	Buckets  []Bucket
}

// Bucket is how many durations are about as long as [Middle] says.
type Bucket struct {
	Number int32
	Count  int64
}

// Add adds what o counted.
func (s *Sum) Add(o Sum) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 {
		s.Min, s.Max = o.Min, o.Max
	}
	s.Count += o.Count
	s.All = plus(s.All, o.All)
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	s.Buckets = merge(s.Buckets, o.Buckets)
}

func plus(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

func merge(a, b []Bucket) []Bucket {
	out := make([]Bucket, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x.Number < y.Number:
			out, a = append(out, x), a[1:]
		case x.Number > y.Number:
			out, b = append(out, y), b[1:]
		default:
			out, a, b = append(out, Bucket{x.Number, x.Count + y.Count}), a[1:], b[1:]
		}
	}
	return slices.Clip(append(append(out, a...), b...))
}

// Quantile is the duration, in ns, that a share q of all stayed below or at;
// 0 of none.
func (s *Sum) Quantile(q float64) int64 {
	want := max(1, int64(math.Ceil(q*float64(s.Count))))
	var below int64
	for _, b := range s.Buckets {
		if below += b.Count; below >= want {
			return min(max(Middle(int(b.Number)), s.Min), s.Max)
		}
	}
	return s.Max
}
