package filter

import (
	"errors"
	"fmt"
	"strings"

	"gprof/stream"
)

// ErrTrace says that a text is no id of a trace.
var ErrTrace = errors.New("want the id of a trace, 32 hexadecimal digits that are not all 0")

// Trace returns the query for the spans of a trace. During keeps what else is known to belong to
// the trace, too, such as samples of a profile that has the ids but no spans. The error is an
// [ErrTrace].
func Trace(id string) (Query, error) {
	s, ok := stream.ParseSpan(strings.ToLower(id), "0000000000000000")
	if !ok {
		return Query{}, fmt.Errorf("%q: %w", id, ErrTrace)
	}
	return Query{Name: "*", trace: s.Trace}, nil
}

// isTrace reports whether the query asks for a trace.
func (q *Query) isTrace() bool { return q.trace != [2]uint64{} }

// ownTrace reports whether row i of b says itself that it is of a trace that was asked for.
func (d *duringFilter) ownTrace(b *stream.Batch, i int) bool {
	if len(d.traces) == 0 || len(b.Span) == 0 && len(b.Labels) == 0 {
		return false
	}
	w := b.Owner(i)
	of := w.Span
	if of == (stream.Span{}) && w.Labels != 0 {
		of = d.labelSpan(w.Labels)
	}
	if of != (stream.Span{}) && d.traces[of.Trace] {
		d.own = true
		return true
	}
	return false
}

// labelSpan is the span that labels name.
func (d *duringFilter) labelSpan(id stream.LabelsID) stream.Span {
	of, ok := d.labelSpans[id]
	if !ok {
		d.tables.Lock()
		of = d.tables.Labels.At(id).Span()
		d.tables.Unlock()
		d.labelSpans[id] = of
	}
	return of
}
