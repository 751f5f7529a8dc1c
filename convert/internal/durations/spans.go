package durations

import (
	"slices"

	"gprof/stream"
)

// Spans takes the durations of the markers of one series: intervals have one,
// and starts have one with the end that belongs to them, that of the last one
// that is open.
type Spans struct {
	open    []stream.Time     // starts
	counts  [numBuckets]int64 // by bucket
	touched []int32           // buckets that are not 0
	out     Markers
}

// Markers is what the markers of an event add up to.
type Markers struct {
	Count    int64 // instants, and what took time, whole or in part
	Unpaired int64 // of Count: starts without an end, ends without a start
	Took     Sum   // of those that took time
}

// Add adds what o counted.
func (m *Markers) Add(o Markers) {
	m.Count += o.Count
	m.Unpaired += o.Unpaired
	m.Took.Add(o.Took)
}

// maxOpen is how many starts may be open at a time: deeper than any program
// nests. What is beyond counts as unpaired.
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
	took.All = plus(took.All, ns)
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

// Take returns what the series added up to, and begins another one.
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
