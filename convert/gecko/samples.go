package gecko

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// Bounds of the rows that samples become. Some tools make one sample of a thread that
// sleeps: a hundred thousand are minutes at the rates of browsers.
const (
	MaxRepeat  = 100_000    // of one sample
	MaxRepeats = 64_000_000 // of all, beside the first of each
	pieceRows  = 10_000     // of one sample in a piece
)

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
		for left := s.rowsOf(b.Weight[i]); left > 0; left -= int64(row.repeat) + 1 {
			row.repeat = int32(min(left, pieceRows)) - 1
			p.rows = append(p.rows, row)
			row.cpu = min(row.cpu, 0)
			if rows += 1 + int(row.repeat); rows >= viewer.MaxRows {
				s.writeSamples(p, rows)
				p, rows = s.samplePieces.Get(), 0
				p.rows = p.rows[:0]
			}
		}
	}
	s.writeSamples(p, rows)
}

// rowsOf is how many rows a sample of that weight becomes.
func (s *Sink) rowsOf(weight int64) int64 {
	if weight <= 1 {
		return 1
	}
	rows := 1 + min(weight-1, s.maxRepeat-1, s.repeatsLeft)
	s.repeatsLeft -= rows - 1
	if rows < weight {
		s.lost.Lose(s.walk.Process, "samples", weight-rows)
	}
	return rows
}

func (s *Sink) writeSamples(p *samplePiece, rows int) {
	s.out.List(rows, pipeline.Numbers, func(dst []byte) []byte {
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
