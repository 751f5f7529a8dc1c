package shard

import (
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Span is an interval that has begun. Copying it is fine.
type Span struct {
	h     Handle
	r     *Recording // nil: nothing recorded
	begin rt.Tick
	args  [4]Arg
}

// Start has a span begin, if anything records. The caller has it write into its own
// result: to copy a span would cost as much as the clock.
func (s *Span) Start(h Handle) {
	if r := Current.Load(); r != nil && !h.Track.IsUnwanted() {
		s.h, s.r, s.begin = h, r, r.clock.Now()
	}
}

// Set says what the i-th field of the span's event holds.
func (s *Span) Set(i int, a Arg) { s.args[i] = a }

// End records the interval from Start until now, unless the recording that ran then
// has ended or is paused.
func (s *Span) End() {
	if s.r != nil {
		s.r.end(s)
	}
}

// end records the interval of a span that was begun in r. A recording that took over
// from r before Start does it for r: see early.go.
//
//go:noinline
func (r *Recording) end(s *Span) {
	now := Current.Load()
	if now != r && (now == nil || now.instance != r.instance) {
		return
	}
	if d := s.h.Event; d != nil && d.Plain && d.Seq <= now.defined.Load() && now.exposed == nil {
		now.endPlain(s)
		return
	}
	more := [2]Arg{s.args[2], s.args[3]}
	now.mark(s.h, rawformat.KindInterval, now.clock.Now(), s.begin, s.args[0], s.args[1], &more)
}

// SpanN is an interval of an event with any number of fields that has begun.
type SpanN struct {
	h        Handle
	instance uint64 // of the recording, not the recording: then the compiler sees that values stay on the stack
	begin    rt.Tick
	values   []Typed
}

// BeginN begins an interval, which the span's End records, with values that must not
// change until then.
func (h Handle) BeginN(values []Typed) SpanN {
	r := Current.Load()
	if r == nil || h.Track.IsUnwanted() {
		return SpanN{}
	}
	return SpanN{h, r.instance, r.clock.Now(), values}
}

// End records the interval, as that of a [Span] does.
func (s SpanN) End() {
	if s.instance != 0 {
		s.h.endN(s.instance, s.begin, s.values)
	}
}

// endN, RecordN and SinceN stand between the program's call and markN, each by
// itself: where the program is, is found by counting.
//
//go:noinline
func (h Handle) endN(instance uint64, begin rt.Tick, values []Typed) {
	if r := Current.Load(); r != nil && r.instance == instance {
		r.markN(h, rawformat.KindInterval, r.clock.Now(), begin, values)
	}
}

// RecordN is Record of an event with any number of fields.
//
//go:noinline
func (h Handle) RecordN(kind rawformat.Kind, values []Typed) {
	if r := Current.Load(); r != nil && !h.Track.IsUnwanted() {
		r.markN(h, kind, r.clock.Now(), 0, values)
	}
}

// SinceN is Since of an event with any number of fields.
//
//go:noinline
func (h Handle) SinceN(begin rt.Time, values []Typed) {
	if r := Current.Load(); r != nil && !h.Track.IsUnwanted() {
		r.markN(h, rawformat.KindInterval, r.clock.Now(), r.clock.At(begin), values)
	}
}
