package decode

import (
	"encoding/hex"

	"gprof/stream"
)

// appendID adds the id of a trace or a span, in hexadecimal, whichever way it was recorded. Zeros
// mean that there is none, as the parent of a root span.
func (w *worker) appendID(col *stream.Column, id []byte, f stream.Format) {
	size := stream.TraceIDSize
	if f == stream.FormatSpanID {
		size = stream.SpanIDSize
	}
	var buf [2 * stream.TraceIDSize]byte
	switch len(id) {
	case 0:
		col.AppendNull()
		return
	case 2 * size:
		if n, err := hex.Decode(buf[:], id); err == nil {
			id = buf[:n]
		}
	}
	if len(id) != size {
		w.note(stream.ReasonMalformed, "ids of traces and spans", "a wrong length")
	}
	if allZero(id) {
		col.AppendNull()
		return
	}
	w.id = hex.AppendEncode(w.id[:0], id)
	col.AppendText(w.id)
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
