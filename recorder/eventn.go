package recorder

import (
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/shard"
)

// MaxFields is how many fields an event may have: with that many texts a marker still fits
// into a block.
const MaxFields = 12

// EventN is an event with up to [MaxFields] fields of any types. Each value costs some ns
// more than with [Event1] to [Event4], and the compiler does not check the values against
// the fields.
type EventN struct{ h shard.Handle }

// AnyField is a [Field] of any type.
type AnyField interface{ describe() registry.FieldSpec }

func (f Field[T]) describe() registry.FieldSpec { return f.spec }

// NewEventN defines an event; see [NewEvent]. Fields beyond [MaxFields] are ignored.
func NewEventN(name string, fields []AnyField, opts ...EventOption) EventN {
	var specs []registry.FieldSpec
	for _, f := range fields[:min(len(fields), MaxFields)] {
		specs = append(specs, f.describe())
	}
	return EventN{newEvent(name, opts, specs...)}
}

// Arg is a value for a field of an [EventN], made by [V].
type Arg = shard.Typed

// V makes an Arg of a value.
func V[T Value](v T) Arg { return shard.Type(v) }

// On: see [Event.On].
func (e EventN) On(t *Track) EventN { e.h.Track = t.aim(); return e }

// From: see [Event.From].
func (e EventN) From(s Stack) EventN { e.h.Event = e.h.Event.From(s.callers); return e }

// Mark records an instant. Values belong to the fields in order. A field without a value is
// empty; values without a field are not recorded. A value whose type is not its field's is
// shown by its own type. Nothing is allocated as long as the values are written out in the
// call.
func (e EventN) Mark(values ...Arg) {
	if shard.Current.Load() != nil {
		e.h.RecordN(rawformat.KindInstant, values)
	}
}

// Start: see [Event.Start].
func (e EventN) Start(values ...Arg) {
	if shard.Current.Load() != nil {
		e.h.RecordN(rawformat.KindStart, values)
	}
}

// End: see [Event.End].
func (e EventN) End(values ...Arg) {
	if shard.Current.Load() != nil {
		e.h.RecordN(rawformat.KindEnd, values)
	}
}

// Interval: see [Event.Interval].
func (e EventN) Interval(begin Time, values ...Arg) {
	if shard.Current.Load() != nil {
		e.h.SinceN(begin, values)
	}
}

// SpanN is an interval of an [EventN] that has begun; see [Span].
type SpanN struct{ begun shard.SpanN }

// Begin begins an interval. The span's End records it, with these values, which must not
// change until then.
func (e EventN) Begin(values ...Arg) SpanN {
	if shard.Current.Load() == nil {
		return SpanN{}
	}
	return SpanN{e.h.BeginN(values)}
}

// End: see [Span.End].
func (s SpanN) End() { s.begun.End() }
