package recorder

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/shard"
)

// Event is an event without fields. The zero value records nothing.
type Event struct{ h shard.Handle }

// Event1 is an event with one field.
type Event1[A Value] struct{ h shard.Handle }

// Event2 is an event with two fields.
type Event2[A, B Value] struct{ h shard.Handle }

// Event3 is an event with three fields.
type Event3[A, B, C Value] struct{ h shard.Handle }

// Event4 is an event with four fields.
type Event4[A, B, C, D Value] struct{ h shard.Handle }

// NewEvent defines an event. Events are meant to be package-level variables: each call
// defines another event, and definitions are never freed.
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

// NewEvent4 defines an event with four fields; see [NewEvent]. For more fields there is
// [NewEventN].
func NewEvent4[A, B, C, D Value](name string, a Field[A], b Field[B], c Field[C], d Field[D], opts ...EventOption) Event4[A, B, C, D] {
	return Event4[A, B, C, D]{newEvent(name, opts, a.spec, b.spec, c.spec, d.spec)}
}

// Span is an interval that has begun. It may be copied. A span that is never ended is not
// recorded.
type Span struct{ begun shard.Span }

// End records the interval from Begin until now, unless the recorder that ran at Begin has
// been stopped or is paused. If none ran then, it records nothing.
func (s Span) End() { s.begun.End() }

// On returns the event aimed at a track. Nil is the process as a whole. Markers of an event
// that is not aimed stand where the samples of the goroutine stand that makes them: on the
// track that it is on, else on the row of its root function.
func (e Event) On(t *Track) Event { e.h.Track = t.aim(); return e }

// From returns the event with a stack that was captured before, for example by the function
// that asked for the work; its markers have that stack. The zero Stack changes nothing.
// From allocates.
func (e Event) From(s Stack) Event { e.h.Event = e.h.Event.From(s.callers); return e }

// Mark records an instant.
func (e Event) Mark() {
	if shard.Current.Load() != nil {
		shard.Emit(e.h, rawformat.KindInstant, nil, nil, 0)
	}
}

// Start records the start of something that End ends, perhaps in another function: the next
// End of this event on the same track. If they are made by goroutines that stand on
// different ones, aim both at one, with On.
func (e Event) Start() {
	if shard.Current.Load() != nil {
		shard.Emit(e.h, rawformat.KindStart, nil, nil, 0)
	}
}

// End records the end of what Start began.
func (e Event) End() {
	if shard.Current.Load() != nil {
		shard.Emit(e.h, rawformat.KindEnd, nil, nil, 0)
	}
}

// Interval records an interval from begin until now.
func (e Event) Interval(begin Time) {
	if shard.Current.Load() != nil {
		e.h.Since(begin, shard.Arg{}, shard.Arg{}, nil)
	}
}

// Begin begins an interval. The span's End records it.
func (e Event) Begin() (s Span) {
	if shard.Current.Load() != nil {
		s.begun.Start(e.h)
	}
	return s
}

// On: see [Event.On].
func (e Event1[A]) On(t *Track) Event1[A] { e.h.Track = t.aim(); return e }

// From: see [Event.From].
func (e Event1[A]) From(s Stack) Event1[A] { e.h.Event = e.h.Event.From(s.callers); return e }

// Mark: see [Event.Mark].
func (e Event1[A]) Mark(a A) {
	if shard.Current.Load() != nil {
		shard.Emit(e.h, rawformat.KindInstant, unsafe.Pointer(&a), nil, 0)
	}
}

// Start: see [Event.Start].
func (e Event1[A]) Start(a A) {
	if shard.Current.Load() != nil {
		shard.Emit(e.h, rawformat.KindStart, unsafe.Pointer(&a), nil, 0)
	}
}

// End: see [Event.End].
func (e Event1[A]) End(a A) {
	if shard.Current.Load() != nil {
		shard.Emit(e.h, rawformat.KindEnd, unsafe.Pointer(&a), nil, 0)
	}
}

// Interval: see [Event.Interval].
func (e Event1[A]) Interval(begin Time, a A) {
	if shard.Current.Load() != nil {
		e.h.Since(begin, shard.Pack(a), shard.Arg{}, nil)
	}
}

// Begin: see [Event.Begin].
func (e Event1[A]) Begin(a A) (s Span) {
	if shard.Current.Load() != nil {
		s.begun.Start(e.h)
		s.begun.Set(0, shard.Pack(a))
	}
	return s
}

// On: see [Event.On].
func (e Event2[A, B]) On(t *Track) Event2[A, B] { e.h.Track = t.aim(); return e }

// From: see [Event.From].
func (e Event2[A, B]) From(s Stack) Event2[A, B] { e.h.Event = e.h.Event.From(s.callers); return e }

// Mark: see [Event.Mark].
func (e Event2[A, B]) Mark(a A, b B) {
	if shard.Current.Load() != nil {
		shard.Emit(e.h, rawformat.KindInstant, unsafe.Pointer(&a), unsafe.Pointer(&b), 0)
	}
}

// Start: see [Event.Start].
func (e Event2[A, B]) Start(a A, b B) {
	if shard.Current.Load() != nil {
		shard.Emit(e.h, rawformat.KindStart, unsafe.Pointer(&a), unsafe.Pointer(&b), 0)
	}
}

// End: see [Event.End].
func (e Event2[A, B]) End(a A, b B) {
	if shard.Current.Load() != nil {
		shard.Emit(e.h, rawformat.KindEnd, unsafe.Pointer(&a), unsafe.Pointer(&b), 0)
	}
}

// Interval: see [Event.Interval].
func (e Event2[A, B]) Interval(begin Time, a A, b B) {
	if shard.Current.Load() != nil {
		e.h.Since(begin, shard.Pack(a), shard.Pack(b), nil)
	}
}

// Begin: see [Event.Begin].
func (e Event2[A, B]) Begin(a A, b B) (s Span) {
	if shard.Current.Load() != nil {
		s.begun.Start(e.h)
		s.begun.Set(0, shard.Pack(a))
		s.begun.Set(1, shard.Pack(b))
	}
	return s
}

// On: see [Event.On].
func (e Event3[A, B, C]) On(t *Track) Event3[A, B, C] { e.h.Track = t.aim(); return e }

// From: see [Event.From].
func (e Event3[A, B, C]) From(s Stack) Event3[A, B, C] {
	e.h.Event = e.h.Event.From(s.callers)
	return e
}

// Mark: see [Event.Mark].
func (e Event3[A, B, C]) Mark(a A, b B, c C) {
	if shard.Current.Load() != nil {
		e.h.Record(rawformat.KindInstant, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c)})
	}
}

// Start: see [Event.Start].
func (e Event3[A, B, C]) Start(a A, b B, c C) {
	if shard.Current.Load() != nil {
		e.h.Record(rawformat.KindStart, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c)})
	}
}

// End: see [Event.End].
func (e Event3[A, B, C]) End(a A, b B, c C) {
	if shard.Current.Load() != nil {
		e.h.Record(rawformat.KindEnd, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c)})
	}
}

// Interval: see [Event.Interval].
func (e Event3[A, B, C]) Interval(begin Time, a A, b B, c C) {
	if shard.Current.Load() != nil {
		e.h.Since(begin, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c)})
	}
}

// Begin: see [Event.Begin].
func (e Event3[A, B, C]) Begin(a A, b B, c C) (s Span) {
	if shard.Current.Load() != nil {
		s.begun.Start(e.h)
		s.begun.Set(0, shard.Pack(a))
		s.begun.Set(1, shard.Pack(b))
		s.begun.Set(2, shard.Pack(c))
	}
	return s
}

// On: see [Event.On].
func (e Event4[A, B, C, D]) On(t *Track) Event4[A, B, C, D] { e.h.Track = t.aim(); return e }

// From: see [Event.From].
func (e Event4[A, B, C, D]) From(s Stack) Event4[A, B, C, D] {
	e.h.Event = e.h.Event.From(s.callers)
	return e
}

// Mark: see [Event.Mark].
func (e Event4[A, B, C, D]) Mark(a A, b B, c C, d D) {
	if shard.Current.Load() != nil {
		e.h.Record(rawformat.KindInstant, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c), shard.Pack(d)})
	}
}

// Start: see [Event.Start].
func (e Event4[A, B, C, D]) Start(a A, b B, c C, d D) {
	if shard.Current.Load() != nil {
		e.h.Record(rawformat.KindStart, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c), shard.Pack(d)})
	}
}

// End: see [Event.End].
func (e Event4[A, B, C, D]) End(a A, b B, c C, d D) {
	if shard.Current.Load() != nil {
		e.h.Record(rawformat.KindEnd, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c), shard.Pack(d)})
	}
}

// Interval: see [Event.Interval].
func (e Event4[A, B, C, D]) Interval(begin Time, a A, b B, c C, d D) {
	if shard.Current.Load() != nil {
		e.h.Since(begin, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c), shard.Pack(d)})
	}
}

// Begin: see [Event.Begin].
func (e Event4[A, B, C, D]) Begin(a A, b B, c C, d D) (s Span) {
	if shard.Current.Load() != nil {
		s.begun.Start(e.h)
		s.begun.Set(0, shard.Pack(a))
		s.begun.Set(1, shard.Pack(b))
		s.begun.Set(2, shard.Pack(c))
		s.begun.Set(3, shard.Pack(d))
	}
	return s
}
