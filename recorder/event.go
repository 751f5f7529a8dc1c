package recorder

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// handle is what every event is: its definition, and the track that it is
// aimed at. The zero handle records nothing.
type handle struct {
	d     *registry.Definition
	track *registry.Track
}

// Event is an event without fields.
type Event struct{ handle }

// Event1 is an event with one field.
type Event1[A Value] struct{ handle }

// Event2 is an event with two fields.
type Event2[A, B Value] struct{ handle }

// Event3 is an event with three fields.
type Event3[A, B, C Value] struct{ handle }

// Event4 is an event with four fields.
type Event4[A, B, C, D Value] struct{ handle }

// NewEvent defines an event. Events are meant to be package-level variables:
// each call defines another one, and definitions are never given up.
func NewEvent(name string, opts ...EventOption) Event { return Event{newEvent(name, opts)} }

// NewEvent1 defines an event with one field; see [NewEvent].
func NewEvent1[A Value](name string, a Field[A], opts ...EventOption) Event1[A] {
	return Event1[A]{newEvent(name, opts, a.spec)}
}

// NewEvent2 defines an event with two fields; see [NewEvent].
func NewEvent2[A, B Value](name string, a Field[A], b Field[B], opts ...EventOption) Event2[A, B] {
	return Event2[A, B]{newEvent(name, opts, a.spec, b.spec)}
}

// NewEvent3 defines an event with three fields; see [NewEvent].
func NewEvent3[A, B, C Value](name string, a Field[A], b Field[B], c Field[C], opts ...EventOption) Event3[A, B, C] {
	return Event3[A, B, C]{newEvent(name, opts, a.spec, b.spec, c.spec)}
}

// NewEvent4 defines an event with four fields; see [NewEvent]. For more
// there is [NewEventN].
func NewEvent4[A, B, C, D Value](name string, a Field[A], b Field[B], c Field[C], d Field[D], opts ...EventOption) Event4[A, B, C, D] {
	return Event4[A, B, C, D]{newEvent(name, opts, a.spec, b.spec, c.spec, d.spec)}
}

const (
	markInstant  = rawformat.KindInstant
	markInterval = rawformat.KindInterval
	markStart    = rawformat.KindStart
	markEnd      = rawformat.KindEnd
)

// Span is an interval that has begun. It is a value: copying it is fine, and
// one that is never ended leaves no trace.
type Span struct {
	h     handle
	r     *recording // nil: nothing recorded
	begin rt.Tick
	a, b  arg
	more  [2]arg
}

// start has a span begin, if anything records. The caller has it write into its own
// result: to copy a span would cost as much as the clock.
func (s *Span) start(h handle) {
	if r := current.Load(); r != nil && !h.track.IsUnwanted() {
		s.h, s.r, s.begin = h, r, r.clock.Now()
	}
}

// End records the interval from Begin until now, unless the recorder that ran at
// Begin has been stopped or paused; if none ran, nothing is recorded.
func (s Span) End() {
	if s.r != nil {
		s.r.end(&s)
	}
}

// On is the same event, aimed at a track. Nil is the process.
func (e Event) On(t *Track) Event { e.track = t.def(); return e }

// From is the same event, whose markers have a stack that was captured before,
// such as that of the call that asked for the work. That of nothing leaves the
// event as it is. From allocates.
func (e Event) From(s Stack) Event { e.d = e.d.From(s.callers); return e }

// Mark records an instant.
func (e Event) Mark() {
	if current.Load() != nil {
		emit(e.handle, markInstant, nil, nil, 0)
	}
}

// Start records the start of something whose end is marked by End, perhaps
// elsewhere: the next one of this event on the same track.
func (e Event) Start() {
	if current.Load() != nil {
		emit(e.handle, markStart, nil, nil, 0)
	}
}

// End records the end of what Start began.
func (e Event) End() {
	if current.Load() != nil {
		emit(e.handle, markEnd, nil, nil, 0)
	}
}

// Interval records an interval from begin until now.
func (e Event) Interval(begin Time) {
	if current.Load() != nil {
		e.since(begin, arg{}, arg{}, nil)
	}
}

// Begin begins an interval, which the span's End records.
func (e Event) Begin() (s Span) {
	if current.Load() != nil {
		s.start(e.handle)
	}
	return s
}

// On: see [Event.On].
func (e Event1[A]) On(t *Track) Event1[A] { e.track = t.def(); return e }

// From: see [Event.From].
func (e Event1[A]) From(s Stack) Event1[A] { e.d = e.d.From(s.callers); return e }

// Mark: see [Event.Mark].
func (e Event1[A]) Mark(a A) {
	if current.Load() != nil {
		emit(e.handle, markInstant, unsafe.Pointer(&a), nil, 0)
	}
}

// Start: see [Event.Start].
func (e Event1[A]) Start(a A) {
	if current.Load() != nil {
		emit(e.handle, markStart, unsafe.Pointer(&a), nil, 0)
	}
}

// End: see [Event.End].
func (e Event1[A]) End(a A) {
	if current.Load() != nil {
		emit(e.handle, markEnd, unsafe.Pointer(&a), nil, 0)
	}
}

// Interval: see [Event.Interval].
func (e Event1[A]) Interval(begin Time, a A) {
	if current.Load() != nil {
		e.since(begin, pack(a), arg{}, nil)
	}
}

// Begin: see [Event.Begin].
func (e Event1[A]) Begin(a A) (s Span) {
	if current.Load() != nil {
		s.start(e.handle)
		s.a = pack(a)
	}
	return s
}

// On: see [Event.On].
func (e Event2[A, B]) On(t *Track) Event2[A, B] { e.track = t.def(); return e }

// From: see [Event.From].
func (e Event2[A, B]) From(s Stack) Event2[A, B] { e.d = e.d.From(s.callers); return e }

// Mark: see [Event.Mark].
func (e Event2[A, B]) Mark(a A, b B) {
	if current.Load() != nil {
		emit(e.handle, markInstant, unsafe.Pointer(&a), unsafe.Pointer(&b), 0)
	}
}

// Start: see [Event.Start].
func (e Event2[A, B]) Start(a A, b B) {
	if current.Load() != nil {
		emit(e.handle, markStart, unsafe.Pointer(&a), unsafe.Pointer(&b), 0)
	}
}

// End: see [Event.End].
func (e Event2[A, B]) End(a A, b B) {
	if current.Load() != nil {
		emit(e.handle, markEnd, unsafe.Pointer(&a), unsafe.Pointer(&b), 0)
	}
}

// Interval: see [Event.Interval].
func (e Event2[A, B]) Interval(begin Time, a A, b B) {
	if current.Load() != nil {
		e.since(begin, pack(a), pack(b), nil)
	}
}

// Begin: see [Event.Begin].
func (e Event2[A, B]) Begin(a A, b B) (s Span) {
	if current.Load() != nil {
		s.start(e.handle)
		s.a, s.b = pack(a), pack(b)
	}
	return s
}

// On: see [Event.On].
func (e Event3[A, B, C]) On(t *Track) Event3[A, B, C] { e.track = t.def(); return e }

// From: see [Event.From].
func (e Event3[A, B, C]) From(s Stack) Event3[A, B, C] { e.d = e.d.From(s.callers); return e }

// Mark: see [Event.Mark].
func (e Event3[A, B, C]) Mark(a A, b B, c C) {
	if current.Load() != nil {
		e.record(markInstant, pack(a), pack(b), &[2]arg{pack(c)})
	}
}

// Start: see [Event.Start].
func (e Event3[A, B, C]) Start(a A, b B, c C) {
	if current.Load() != nil {
		e.record(markStart, pack(a), pack(b), &[2]arg{pack(c)})
	}
}

// End: see [Event.End].
func (e Event3[A, B, C]) End(a A, b B, c C) {
	if current.Load() != nil {
		e.record(markEnd, pack(a), pack(b), &[2]arg{pack(c)})
	}
}

// Interval: see [Event.Interval].
func (e Event3[A, B, C]) Interval(begin Time, a A, b B, c C) {
	if current.Load() != nil {
		e.since(begin, pack(a), pack(b), &[2]arg{pack(c)})
	}
}

// Begin: see [Event.Begin].
func (e Event3[A, B, C]) Begin(a A, b B, c C) (s Span) {
	if current.Load() != nil {
		s.start(e.handle)
		s.a, s.b, s.more[0] = pack(a), pack(b), pack(c)
	}
	return s
}

// On: see [Event.On].
func (e Event4[A, B, C, D]) On(t *Track) Event4[A, B, C, D] { e.track = t.def(); return e }

// From: see [Event.From].
func (e Event4[A, B, C, D]) From(s Stack) Event4[A, B, C, D] { e.d = e.d.From(s.callers); return e }

// Mark: see [Event.Mark].
func (e Event4[A, B, C, D]) Mark(a A, b B, c C, d D) {
	if current.Load() != nil {
		e.record(markInstant, pack(a), pack(b), &[2]arg{pack(c), pack(d)})
	}
}

// Start: see [Event.Start].
func (e Event4[A, B, C, D]) Start(a A, b B, c C, d D) {
	if current.Load() != nil {
		e.record(markStart, pack(a), pack(b), &[2]arg{pack(c), pack(d)})
	}
}

// End: see [Event.End].
func (e Event4[A, B, C, D]) End(a A, b B, c C, d D) {
	if current.Load() != nil {
		e.record(markEnd, pack(a), pack(b), &[2]arg{pack(c), pack(d)})
	}
}

// Interval: see [Event.Interval].
func (e Event4[A, B, C, D]) Interval(begin Time, a A, b B, c C, d D) {
	if current.Load() != nil {
		e.since(begin, pack(a), pack(b), &[2]arg{pack(c), pack(d)})
	}
}

// Begin: see [Event.Begin].
func (e Event4[A, B, C, D]) Begin(a A, b B, c C, d D) (s Span) {
	if current.Load() != nil {
		s.start(e.handle)
		s.a, s.b, s.more[0], s.more[1] = pack(a), pack(b), pack(c), pack(d)
	}
	return s
}
