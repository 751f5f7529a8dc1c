package firefox

import (
	"gprof/stream"
)

// The units of weights.
const (
	weighsSamples = "samples"
	weighsTime    = "tracing-ms"
	weighsBytes   = "bytes"
)

// weightType is the unit of a measure as weights have it.
func weightType(unit stream.Format) string {
	switch unit {
	case stream.FormatNanoseconds:
		return weighsTime
	case stream.FormatBytes:
		return weighsBytes
	}
	return weighsSamples
}

// weights writes waits, or measurements, as the samples of a thread: the weight of
// each is its value, of times in ns. A thread that has samples of the CPU, or
// values of something else, has no place for them.
func (s *Sink) weights(b *stream.Batch, typ string) {
	t := &s.thread
	if t.rows > 0 && (t.weights == "" || t.measure != b.Series.Counter) {
		s.lost.LoseKind(s.walk.Process, b.Series.Kind, int64(b.Len()))
		return
	}
	t.weights, t.measure = typ, b.Series.Counter
	p := s.stackPieces.Get()
	p.stacks = append(p.stacks[:0], b.Stack...)
	for i, value := range b.Value {
		t.delta.add(int64(b.Time[i] - t.last))
		t.last = b.Time[i]
		t.cpu.add(0)
		t.weight.add(value)
		s.current().samples++
	}
	s.endRows(t, p)
}
