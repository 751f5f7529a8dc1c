package durations

import (
	"cmp"

	"gprof/stream"
)

// Exemplar is an interval that took long, and is part of a trace.
type Exemplar struct {
	Took int64 // ns
	At   stream.Time
	Of   stream.Span
}

// Slowest are the exemplars that took longest, in that order; those behind are zero.
type Slowest [3]Exemplar

// Add adds those of o.
func (s *Slowest) Add(o *Slowest) {
	for i := range o {
		s.Offer(o[i])
	}
}

// Offer takes an exemplar if it is one of the slowest, whatever the order in which they come.
func (s *Slowest) Offer(x Exemplar) {
	if x == (Exemplar{}) {
		return
	}
	for i := range s {
		if s[i] == (Exemplar{}) || x.before(&s[i]) {
			s[i], x = x, s[i]
		}
	}
}

func (x *Exemplar) before(o *Exemplar) bool {
	return cmp.Or(cmp.Compare(o.Took, x.Took), cmp.Compare(x.At, o.At), cmp.Compare(x.Of.Trace[0], o.Of.Trace[0]),
		cmp.Compare(x.Of.Trace[1], o.Of.Trace[1]), cmp.Compare(x.Of.ID, o.Of.ID)) < 0
}

// Look takes row i of b, of an event with those fields, if it is slow and of a trace.
func (s *Slowest) Look(b *stream.Batch, i int, fields stream.SpanFields) {
	if b.Phase[i] != stream.Interval || b.Duration[i] < s[len(s)-1].Took {
		return
	}
	of, ok := fields.At(b, i)
	if !ok {
		of = b.Owner(i).Span
	}
	if of != (stream.Span{}) {
		s.Offer(Exemplar{b.Duration[i], b.Time[i], of})
	}
}
