package shard

import (
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Span is an interval that has begun. It may be copied.
type Span struct {
	h     Handle
	r     *Recording // nil: nothing recorded
	begin rt.Tick
	args  [4]Arg
}

// Start begins the span, if anything records. Callers pass a pointer to their own result,
// because copying a span would cost as much as the clock.
func (s *Span) Start(h Handle) {
	if r := Current.Load(); r != nil && !h.Track.IsUnwanted() {
		s.h, s.r, s.begin = h, r, r.clock.Now()
	}
}

// Set sets the i-th field of the span's event.
func (s *Span) Set(i int, a Arg) { s.args[i] = a }

// End records the interval from Start until now, unless the recording of that time has
// ended or is paused.
func (s *Span) End() {
	if s.r != nil {
		s.r.end(s)
	}
}

// end records the interval of a span that began in r. If r is an early recording, the one
// that took over from it records the interval: see early.go.
//
//go:noinline
func (r *Recording) end(s *Span) {
	now := Current.Load()
	if now != r && (now == nil || now.instance != r.instance) {
		return
	}
	if d := s.h.Event; d != nil && d.Plain && d.Seq <= now.defined.Load() && now.faultErr == nil {
		now.endPlain(s)
		return
	}
	more, at := [2]Arg{s.args[2], s.args[3]}, now.clock.Now()
	now.mark(s.h, rawformat.KindInterval, at, s.begin, s.args[0], s.args[1], &more)
	if s.h.overran(at - s.begin) {
		now.noteSpan(s, at-s.begin)
	}
}

// SpanN is a span of an event with any number of fields.
type SpanN struct {
	h        Handle
	instance uint64 // of the recording; a pointer to it would have the compiler move values to the heap
	begin    rt.Tick
	values   []Typed
}

// BeginN begins an interval, which the span's End records. The values must not change until
// then.
func (h Handle) BeginN(values []Typed) SpanN {
	r := Current.Load()
	if r == nil || h.Track.IsUnwanted() {
		return SpanN{}
	}
	return SpanN{h, r.instance, r.clock.Now(), values}
}

// End records the interval, as [Span.End] does.
func (s SpanN) End() {
	if s.instance != 0 {
		s.h.endN(s.instance, s.begin, s.values)
	}
}

// endN, RecordN and SinceN are called by the program's call and call markN. None of them
// may be inlined or wrapped, because the program's frame is found by counting calls.
//
//go:noinline
func (h Handle) endN(instance uint64, begin rt.Tick, values []Typed) {
	if r := Current.Load(); r != nil && r.instance == instance {
		now := r.clock.Now()
		r.markN(h, rawformat.KindInterval, now, begin, values)
		if h.overran(now - begin) {
			r.noteValues(h.Event, now-begin, values)
		}
	}
}

// RecordN is Record for an event with any number of fields.
//
//go:noinline
func (h Handle) RecordN(kind rawformat.Kind, values []Typed) {
	if r := Current.Load(); r != nil && !h.Track.IsUnwanted() {
		r.markN(h, kind, r.clock.Now(), 0, values)
	}
}

// SinceN is Since for an event with any number of fields.
//
//go:noinline
func (h Handle) SinceN(begin rt.Time, values []Typed) {
	if r := Current.Load(); r != nil && !h.Track.IsUnwanted() {
		now, from := r.clock.Now(), r.clock.At(begin)
		r.markN(h, rawformat.KindInterval, now, from, values)
		if h.overran(now - from) {
			r.noteValues(h.Event, now-from, values)
		}
	}
}
