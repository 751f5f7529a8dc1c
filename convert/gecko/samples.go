package gecko

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/ordered"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// MaxRepeat is how many rows one sample becomes at most.
const MaxRepeat = 10_000

// beginSamples begins the list of samples. The viewer wants a column of delays,
// but not that rows reach it.
func (s *Sink) beginSamples() {
	s.beginTable("samples", `{"stack":0,"time":1,"threadCPUDelta":2,"eventDelay":3}`)
}

// sample is one sample of the output.
type sample struct {
	at     int64 // ns since the start
	cpu    int64 // ns, -1 unknown
	stack  int32 // number in the thread, -1 none
	repeat int32 // how many more rows it becomes
}

// samplePiece is some rows of a thread.
type samplePiece struct{ rows []sample }

func (s *Sink) samples(b *stream.Batch) {
	p := s.samplePieces.Get()
	p.rows = p.rows[:0]
	rows := 0
	var merged []stream.StackID
	for i, at := range b.Time {
		if i%ahead == 0 {
			merged = s.code.merge(s.merged[:0], b.Stack[i:min(i+ahead, b.Len())])
		}
		row := sample{at: s.ms(at), cpu: b.CPU[i], stack: -1}
		if b.Stack[i] != 0 && b.Weight[i] > 0 {
			row.stack = s.thread.number(merged[i%ahead])
		}
		if b.Weight[i] > 1 {
			row.repeat = s.repeats(b.Weight[i])
		}
		p.rows = append(p.rows, row)
		if rows += 1 + int(row.repeat); rows >= viewer.MaxRows {
			s.writeSamples(p, rows)
			p, rows = s.samplePieces.Get(), 0
			p.rows = p.rows[:0]
		}
	}
	s.writeSamples(p, rows)
}

// repeats is how often a sample of that weight is written again.
func (s *Sink) repeats(weight int64) int32 {
	if weight > MaxRepeat {
		s.lost.Lose(s.walk.Process, "samples", weight-MaxRepeat)
		weight = MaxRepeat
	}
	return int32(weight - 1)
}

func (s *Sink) writeSamples(p *samplePiece, rows int) {
	s.out.List(rows, ordered.Numbers, func(dst []byte) []byte {
		for i := range p.rows {
			dst = p.rows[i].appendTo(dst)
		}
		s.samplePieces.Put(p)
		return dst[:len(dst)-1]
	})
}

// appendTo appends the rows of a sample, a comma behind each. The CPU time, if
// it is known, stands in the first; it is zero for the others.
func (r *sample) appendTo(dst []byte) []byte {
	begin := len(dst)
	if r.stack < 0 {
		dst = append(dst, "[null,"...)
	} else {
		dst = append(jsontext.AppendUint(append(dst, '['), uint64(r.stack)), ',')
	}
	dst = jsontext.AppendMillis(dst, r.at)
	end := len(dst)
	if r.cpu >= 0 {
		dst = jsontext.AppendUint(append(dst, ','), uint64(r.cpu))
	}
	dst = append(dst, "],"...)
	for range r.repeat {
		dst = append(dst, dst[begin:end]...)
		if r.cpu >= 0 {
			dst = append(dst, ",0"...)
		}
		dst = append(dst, "],"...)
	}
	return dst
}
