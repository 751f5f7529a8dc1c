// Package durations sums up how long things took: their number, their sum and quantiles.
// Its memory does not grow with their number.
package durations

import (
	"math"
	"math/bits"
	"slices"

	"gprof/stream"
)

// precision is the number of bits of a duration that distinguish buckets, for an error of
// at most a 256th.
const precision = 7

// numBuckets is the number up to the longest duration.
const numBuckets = (63-precision)<<precision + 1<<precision

// Precision bounds the relative error of a quantile.
const Precision = 1.0 / (2 << precision)

// bucketOf is the bucket of a duration. Each duration below 256 ns has its own.
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

// Sum sums up durations. The zero Sum is that of none.
type Sum struct {
	Count    int64
	All      int64 // ns, saturated
	Min, Max int64 // ns
	Buckets  []Bucket
}

// Bucket is the number of durations of about [Middle].
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
	s.All = stream.Plus(s.All, o.All)
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	s.Buckets = merge(s.Buckets, o.Buckets)
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

// Quantile is the duration in ns that a share q of all did not exceed; 0 if there are
// none.
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

// Spans sums up the durations of one series of markers: of intervals, and from starts to the end
// that matches the last open one.
type Spans struct {
	open    []stream.Time     // starts
	counts  [numBuckets]int64 // by bucket
	touched []int32           // buckets that are not 0
	out     Markers
}

// Markers sums up an event's markers.
type Markers struct {
	Count    int64 // instants, intervals, and starts and ends
	Unpaired int64 // of Count: starts without an end, ends without a start
	Took     Sum   // of those with a duration
	Slowest  Slowest
}

// Add adds what o counted.
func (m *Markers) Add(o Markers) {
	m.Count += o.Count
	m.Unpaired += o.Unpaired
	m.Took.Add(o.Took)
	m.Slowest.Add(&o.Slowest)
}

// maxOpen bounds the open starts: deeper than any program nests. Those beyond count as unpaired.
const maxOpen = 1 << 16

// Add takes a segment.
func (s *Spans) Add(b *stream.Batch) {
	for i, phase := range b.Phase {
		switch phase {
		case stream.Instant:
			s.out.Count++
		case stream.Interval:
			s.add(b.Duration[i])
		case stream.PhaseStart:
			s.start(b.Time[i])
		case stream.PhaseEnd:
			s.stop(b.Time[i])
		}
	}
}

func (s *Spans) add(ns int64) {
	ns = max(0, ns)
	s.out.Count++
	took := &s.out.Took
	if took.Count == 0 {
		took.Min = ns
	}
	took.Count++
	took.All = stream.Plus(took.All, ns)
	took.Min, took.Max = min(took.Min, ns), max(took.Max, ns)
	bucket := bucketOf(ns)
	if s.counts[bucket] == 0 {
		s.touched = append(s.touched, int32(bucket))
	}
	s.counts[bucket]++
}

func (s *Spans) start(at stream.Time) {
	if len(s.open) == maxOpen {
		s.unpaired(1)
		return
	}
	s.open = append(s.open, at)
}

func (s *Spans) stop(at stream.Time) {
	last := len(s.open) - 1
	if last < 0 {
		s.unpaired(1)
		return
	}
	s.add(int64(at - s.open[last]))
	s.open = s.open[:last]
}

func (s *Spans) unpaired(n int) {
	s.out.Count += int64(n)
	s.out.Unpaired += int64(n)
}

// Take returns the sum of the series, and begins another one.
func (s *Spans) Take() Markers {
	s.unpaired(len(s.open))
	out := s.out
	slices.Sort(s.touched)
	out.Took.Buckets = make([]Bucket, len(s.touched))
	for i, bucket := range s.touched {
		out.Took.Buckets[i] = Bucket{bucket, s.counts[bucket]}
		s.counts[bucket] = 0
	}
	s.open, s.touched, s.out = s.open[:0], s.touched[:0], Markers{}
	return out
}
