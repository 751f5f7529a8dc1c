package firefox

import (
	"gprof/convert/internal/ordered"
	"gprof/stream"
)

// waits writes waits as the samples of a thread: the weight of each is its time on
// the wall. A thread that has samples of the CPU has no place for them.
func (s *Sink) waits(b *stream.Batch) {
	t := &s.thread
	if t.rows > 0 && !t.waits {
		s.lost.Lose(s.walk.Process, b.Series.Kind.String(), int64(b.Len()))
		return
	}
	t.waits = true
	p := s.stackPieces.Get()
	p.stacks = append(p.stacks[:0], b.Stack...)
	for i, wall := range b.Value {
		t.delta.add(int64(b.Time[i] - t.last))
		t.last = b.Time[i]
		t.cpu.add(0)
		t.weight.add(wall)
		s.current().samples++
	}
	t.rows += int64(b.Len())
	t.delta.flush()
	t.cpu.flush()
	t.weight.flush()
	s.out.List(b.Len(), ordered.Numbers, func(dst []byte) []byte {
		dst = p.appendTo(dst)
		s.stackPieces.Put(p)
		return dst
	})
}
