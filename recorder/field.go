package recorder

import (
	"time"
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// Value is what a field of an event can hold.
type Value interface {
	int | int64 | uint64 | float64 | bool | string | time.Duration | Time
}

// Field describes one field of an event: its name, how its value is shown, and what the
// value may reveal. Its methods return a changed copy.
type Field[T Value] struct{ spec registry.FieldSpec }

// GraphShape is how a field's numbers are drawn over time, see [Field.Graph].
type GraphShape = rawformat.GraphShape

// Shapes of graphs.
const (
	GraphBar    GraphShape = rawformat.GraphBar
	GraphLine   GraphShape = rawformat.GraphLine
	GraphFilled GraphShape = rawformat.GraphFilled // a line, filled below
)

// Unit says how front ends show a number.
type Unit = rawformat.Format

// Units of fields and counters.
const (
	UnitInteger     Unit = rawformat.FormatInteger
	UnitDecimal     Unit = rawformat.FormatDecimal
	UnitBytes       Unit = rawformat.FormatBytes
	UnitNanoseconds Unit = rawformat.FormatNanoseconds
	UnitPercent     Unit = rawformat.FormatPercentage // 1.0 is 100 %
	UnitHex         Unit = rawformat.FormatHexadecimal

	// UnitPicowattHours is energy, for counters that are totals: 1 mJ is 277,778.
	UnitPicowattHours Unit = rawformat.FormatPicowatt

	// Units for fields made by [Duration]: the value is always shown in this unit, however
	// large it is. It is still given in ns.
	UnitSeconds      Unit = rawformat.FormatSeconds
	UnitMilliseconds Unit = rawformat.FormatMilliseconds
	UnitMicroseconds Unit = rawformat.FormatMicroseconds
	UnitWholeNanos   Unit = rawformat.FormatWholeNanos
)

// Label sets what the field is called on screen. Default: its name.
func (f Field[T]) Label(label string) Field[T] { f.spec.Label = label; return f }

// Searchable makes front ends search the field's values.
func (f Field[T]) Searchable() Field[T] { f.spec.Flags |= rawformat.FieldSearchable; return f }

// Hidden keeps the field out of tooltips; it is recorded nevertheless.
func (f Field[T]) Hidden() Field[T] { f.spec.Flags |= rawformat.FieldHidden; return f }

// Unit sets how a number is shown. It does not convert the value.
func (f Field[T]) Unit(u Unit) Field[T] { f.spec.Unit = u; return f }

// Graph has the field's numbers drawn over time, on a track of the event's own in the
// timeline. The colours are Firefox Profiler's for graphs: blue, green, grey, ink, magenta,
// orange, purple, red, teal and yellow, or "" for any. Texts have no graph.
func (f Field[T]) Graph(shape GraphShape, color string) Field[T] {
	f.spec.FieldGraph = registry.FieldGraph{Shape: shape, Color: color, Wanted: true}
	return f
}

// Color says that the value, a text, is the colour in which the marker is drawn, one of
// those of [Field.Graph]. If there are several such fields the first one counts.
func (f Field[T]) Color() Field[T] { f.spec.Flags |= rawformat.FieldColor; return f }

// Name says that the value, a text, is the name of the marker, instead of the event's. If
// there are several such fields the first one counts.
func (f Field[T]) Name() Field[T] { f.spec.Flags |= rawformat.FieldName; return f }

func number[T Value](name string, wire rawformat.WireType, unit Unit) Field[T] {
	return Field[T]{registry.FieldSpec{Name: name, Wire: wire, Size: unsafe.Sizeof(*new(T)), Unit: unit}}
}

func text(name string, unit Unit, privacy rawformat.Privacy) Field[string] {
	return Field[string]{registry.FieldSpec{Name: name, Wire: rawformat.WireText, Size: unsafe.Sizeof(""), Unit: unit, Privacy: privacy}}
}

// Int is a whole number.
func Int(name string) Field[int] { return number[int](name, rawformat.WireSint, UnitInteger) }

// Int64 is a whole number of 64 bits.
func Int64(name string) Field[int64] { return number[int64](name, rawformat.WireSint, UnitInteger) }

// Uint is a whole number of 64 bits that is not negative.
func Uint(name string) Field[uint64] { return number[uint64](name, rawformat.WireUint, UnitInteger) }

// Hex is a number that is shown in hexadecimal, such as an address or a set of flags.
func Hex(name string) Field[uint64] { return number[uint64](name, rawformat.WireUint, UnitHex) }

// Bytes is a number of bytes.
func Bytes(name string) Field[int] { return number[int](name, rawformat.WireSint, UnitBytes) }

// Float is a number with a fraction.
func Float(name string) Field[float64] {
	return number[float64](name, rawformat.WireFloat, UnitDecimal)
}

// Percent is a ratio: 1.0 is 100 %.
func Percent(name string) Field[float64] {
	return number[float64](name, rawformat.WireFloat, UnitPercent)
}

// Bool is true or false.
func Bool(name string) Field[bool] {
	return number[bool](name, rawformat.WireUint, rawformat.FormatBool)
}

// Duration is a length of time.
func Duration(name string) Field[time.Duration] {
	return number[time.Duration](name, rawformat.WireSint, UnitNanoseconds)
}

// Moment is a point in time of this process, as [Now] returns it, for example when the work
// was asked for.
func Moment(name string) Field[Time] {
	return number[Time](name, rawformat.WireSint, rawformat.FormatMoment)
}

// Flow is an id that the markers of one flow share, such as that of a request. Markers of
// all processes with the same id belong to the same flow; compare [LocalFlow].
func Flow(name string) Field[uint64] {
	return number[uint64](name, rawformat.WireUint, rawformat.FormatFlow)
}

// FlowEnd is the id of a flow in the marker that ends it.
func FlowEnd(name string) Field[uint64] {
	return number[uint64](name, rawformat.WireUint, rawformat.FormatFlowEnd)
}

// LocalFlow is the id of a flow within this process, such as a running number or an
// address. The same id in another process is another flow.
func LocalFlow(name string) Field[uint64] { return Flow(name).local() }

// LocalFlowEnd is the id of a flow within this process, in the marker that ends it.
func LocalFlowEnd(name string) Field[uint64] { return FlowEnd(name).local() }

func (f Field[T]) local() Field[T] { f.spec.Flags |= rawformat.FieldLocal; return f }

// String is a text that reveals nothing about people or places. Every text is cut at 1 KiB.
func String(name string) Field[string] {
	return text(name, rawformat.FormatText, rawformat.PrivacyPlain)
}

// Word is a [String] with few different values, such as a method or a state: profiles store
// each value once.
func Word(name string) Field[string] {
	return text(name, rawformat.FormatString, rawformat.PrivacyPlain)
}

// TraceID is the id of a distributed trace, as W3C Trace Context and OpenTelemetry have them:
// its 16 bytes, string(id[:]), or their hexadecimal digits. Bytes take half the room. With it a
// marker is a span of the trace; the first field that is a [SpanID] is the span's own id.
// Samples of the goroutine on which a span began name the span in outputs.
//
// If a span's Start records its ids, and an interval with the same ids its end, the two are one
// interval; a span that never ends is there from its start on.
func TraceID(name string) Field[string] {
	return text(name, rawformat.FormatTraceID, rawformat.PrivacyPlain)
}

// SpanID is the id of a span of a distributed trace: its 8 bytes, or their hexadecimal digits.
func SpanID(name string) Field[string] {
	return text(name, rawformat.FormatSpanID, rawformat.PrivacyPlain)
}

// Path is a path in the file system.
func Path(name string) Field[string] { return text(name, rawformat.FormatPath, rawformat.PrivacyPath) }

// URL is an address, perhaps with a query.
func URL(name string) Field[string] { return text(name, rawformat.FormatURL, rawformat.PrivacyURL) }

// User is the name of a person or an account.
func User(name string) Field[string] { return text(name, rawformat.FormatText, rawformat.PrivacyUser) }

// Secret is a text that must not leave the machine.
func Secret(name string) Field[string] {
	return text(name, rawformat.FormatText, rawformat.PrivacySecret)
}

// Time is a moment on the clock of this process' recordings: nanoseconds of the monotonic
// clock since this package was initialised.
type Time = rt.Time

// Now is the current moment.
func Now() Time { return rt.Now() }
