package pprof

import (
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// maxSpans bounds the spans whose ids are labels, each of them a text of a profile that its
// readers, and we until the end, have in memory: 25 MB.
const maxSpans = 1 << 17

// spanTexts are the numbers of the ids of the span that was written last. Samples of a span mostly
// follow each other.
type spanTexts struct {
	of        stream.Span
	trace, id uint64
	written   int
}

// appendSpan appends the labels of a span.
func (s *Sink) appendSpan(body []byte, of stream.Span) []byte {
	if of == (stream.Span{}) {
		return body
	}
	if of != s.named.of {
		if s.named.written == maxSpans {
			s.spansLost.Add(stream.Line{Process: s.tables.Process(s.process).InstanceName(), Reason: stream.ReasonNoPlace, What: "spans of samples", Count: 1})
			return body
		}
		s.named = spanTexts{of: of, trace: s.texts.Number(of.TraceText()), written: s.named.written + 1}
		if of.ID != 0 {
			s.named.id = s.texts.Number(of.IDText())
		}
	}
	body = s.numberedLabel(body, labelTrace, s.named.trace)
	if of.ID == 0 {
		return body
	}
	return s.numberedLabel(body, labelSpan, s.named.id)
}

// numberedLabel appends a label whose value is the text of that number.
func (s *Sink) numberedLabel(body []byte, key string, value uint64) []byte {
	s.line = protobuf.AppendNumber(s.line[:0], profileproto.LabelKey, s.texts.Number(key))
	s.line = protobuf.AppendNumber(s.line, profileproto.LabelText, value)
	return protobuf.AppendBytes(body, profileproto.SampleLabel, s.line)
}
