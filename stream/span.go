package stream

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
)

// Span names a span of a distributed trace by its ids, as W3C Trace Context and
// OpenTelemetry have them. The zero Span is none.
type Span struct {
	Trace [2]uint64 // the 16 bytes of the trace's id, in the order of their hexadecimal digits
	ID    uint64    // the 8 bytes of the span's own; 0: the span in that trace is unknown
}

// Sizes of ids, in bytes; their texts have twice as many digits.
const (
	TraceIDSize = 16
	SpanIDSize  = 8
)

// Keys of the labels by which programs name the span of their work without help of ours,
// in hexadecimal.
const (
	LabelTrace = "trace_id"
	LabelSpan  = "span_id"
)

// NewSpan returns the Span of ids as bytes. Ids of another length, and a trace id of zeros,
// are none, so ok is false; a span id of zeros is unknown.
func NewSpan(trace, id []byte) (s Span, ok bool) {
	if len(trace) != TraceIDSize || len(id) != SpanIDSize {
		return Span{}, false
	}
	s.Trace = [2]uint64{binary.BigEndian.Uint64(trace), binary.BigEndian.Uint64(trace[8:])}
	if s.Trace == ([2]uint64{}) {
		return Span{}, false
	}
	s.ID = binary.BigEndian.Uint64(id)
	return s, true
}

// ParseSpan is NewSpan of ids in hexadecimal.
func ParseSpan(trace, id string) (s Span, ok bool) { return parseSpan([]byte(trace), []byte(id)) }

func parseSpan(trace, id []byte) (s Span, ok bool) {
	var ids [TraceIDSize + SpanIDSize]byte
	if len(trace) != 2*TraceIDSize || len(id) != 2*SpanIDSize {
		return Span{}, false
	}
	if _, err := hex.Decode(ids[:TraceIDSize], trace); err != nil {
		return Span{}, false
	}
	if _, err := hex.Decode(ids[TraceIDSize:], id); err != nil {
		return Span{}, false
	}
	return NewSpan(ids[:TraceIDSize], ids[TraceIDSize:])
}

// AppendTrace appends the bytes of the trace's id.
func (s Span) AppendTrace(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, s.Trace[0]), s.Trace[1])
}

// AppendID appends the bytes of the span's id.
func (s Span) AppendID(dst []byte) []byte { return binary.BigEndian.AppendUint64(dst, s.ID) }

// TraceText is the trace's id in hexadecimal.
func (s Span) TraceText() string { return hex.EncodeToString(s.AppendTrace(nil)) }

// IDText is the span's id in hexadecimal.
func (s Span) IDText() string { return hex.EncodeToString(s.AppendID(nil)) }

// SpanOf is the span that a row belongs to: its own, else that of its labels.
func (t *Tables) SpanOf(w Owner) Span {
	if w.Span != (Span{}) || w.Labels == 0 {
		return w.Span
	}
	return t.Labels.At(w.Labels).Span()
}

// Span is the span that labels name, if both its ids are there and right.
func (s LabelSet) Span() Span {
	var trace, id string
	for key, value := range s.All() {
		switch key {
		case LabelTrace:
			trace = value
		case LabelSpan:
			id = value
		}
	}
	span, _ := ParseSpan(trace, id)
	return span
}

// SpanFields are the arguments by which the markers of an event are spans themselves.
type SpanFields struct{ trace, id int } // -1: there is none

// SpanFields returns the arguments that are the id of a trace, and of a span in it: the first of
// their formats, so that another one may be the span's parent. A span without a trace is none.
func (e *Event) SpanFields() SpanFields {
	of := func(f Format) int {
		return slices.IndexFunc(e.Fields, func(field EventField) bool { return field.Format == f && field.Type == Text })
	}
	return SpanFields{of(FormatTraceID), of(FormatSpanID)}
}

// Any reports whether markers of the event may be spans.
func (f SpanFields) Any() bool { return f.trace >= 0 }

// At is the span that row i of b, of that event, is, if its trace is known.
func (f SpanFields) At(b *Batch, i int) (s Span, ok bool) {
	if f.trace < 0 || b.Args[f.trace].TypeAt(i) != Text {
		return Span{}, false
	}
	id := noID
	if f.id >= 0 && b.Args[f.id].TypeAt(i) == Text {
		id = b.Args[f.id].TextAt(i)
	}
	return parseSpan(b.Args[f.trace].TextAt(i), id)
}

// noID is the id of an unknown span.
var noID = []byte("0000000000000000")
