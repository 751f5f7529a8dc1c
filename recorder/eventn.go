package recorder

import (
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// MaxFields is how many fields an event may have: with that many texts a marker
// still fits into a block.
const MaxFields = 12

// EventN is an event with up to [MaxFields] fields of any types. It costs some ns
// more for each value than the events of a fixed number, and the compiler does not
// see whether the values fit the fields.
type EventN struct{ handle }

// AnyField is a [Field] of some type.
type AnyField interface{ describe() registry.FieldSpec }

func (f Field[T]) describe() registry.FieldSpec { return f.spec }

// NewEventN defines an event; see [NewEvent]. Of more than [MaxFields] fields the
// first ones count.
func NewEventN(name string, fields []AnyField, opts ...EventOption) EventN {
	var specs []registry.FieldSpec
	for _, f := range fields[:min(len(fields), MaxFields)] {
		specs = append(specs, f.describe())
	}
	return EventN{newEvent(name, opts, specs...)}
}

// Arg is a value for a field of an [EventN].
type Arg struct {
	arg  arg
	wire rawformat.WireType
}

// V makes an Arg of a value.
func V[T Value](v T) Arg {
	a := Arg{arg: pack(v)}
	switch any(v).(type) {
	case uint64, bool:
		a.wire = rawformat.WireUint
	case float64:
		a.wire = rawformat.WireFloat
	case string:
		a.wire = rawformat.WireText
	default:
		a.wire = rawformat.WireSint
	}
	return a
}

// On: see [Event.On].
func (e EventN) On(t *Track) EventN { e.track = t.def(); return e }

// From: see [Event.From].
func (e EventN) From(s Stack) EventN { e.d = e.d.From(s.callers); return e }

// Mark records an instant. The values are those of the fields, in order; fields
// without one are empty. Values without a field are not recorded, and one of
// another type than its field's shows as what it is. Nothing is allocated, as long
// as the values are written out in the call.
func (e EventN) Mark(values ...Arg) {
	if current.Load() != nil {
		e.recordN(markInstant, values)
	}
}

// Start: see [Event.Start].
func (e EventN) Start(values ...Arg) {
	if current.Load() != nil {
		e.recordN(markStart, values)
	}
}

// End: see [Event.End].
func (e EventN) End(values ...Arg) {
	if current.Load() != nil {
		e.recordN(markEnd, values)
	}
}

// Interval: see [Event.Interval].
func (e EventN) Interval(begin Time, values ...Arg) {
	if current.Load() != nil {
		e.sinceN(begin, values)
	}
}

// SpanN is an interval of an [EventN] that has begun; see [Span].
type SpanN struct {
	h        handle
	instance uint64 // of the recorder, not the recorder: then the compiler sees that values stay on the stack
	begin    rt.Tick
	values   []Arg
}

// Begin begins an interval, which the span's End records, with values that must not
// change until then.
func (e EventN) Begin(values ...Arg) SpanN {
	r := current.Load()
	if r == nil || e.track.IsUnwanted() {
		return SpanN{}
	}
	return SpanN{e.handle, r.instance, r.clock.Now(), values}
}

// End: see [Span.End].
func (s SpanN) End() {
	if s.instance != 0 {
		s.h.endN(s.instance, s.begin, s.values)
	}
}

//go:noinline
func (h handle) endN(instance uint64, begin rt.Tick, values []Arg) {
	if r := current.Load(); r != nil && r.instance == instance {
		r.markN(h, markInterval, r.clock.Now(), begin, values)
	}
}

// recordN, sinceN and endN stand between the program's call and markN, each by
// itself: where the program is, is found by counting.
//
//go:noinline
func (h handle) recordN(kind rawformat.Kind, values []Arg) {
	if r := current.Load(); r != nil && !h.track.IsUnwanted() {
		r.markN(h, kind, r.clock.Now(), 0, values)
	}
}

//go:noinline
func (h handle) sinceN(begin Time, values []Arg) {
	if r := current.Load(); r != nil && !h.track.IsUnwanted() {
		r.markN(h, markInterval, r.clock.Now(), r.clock.At(begin), values)
	}
}
