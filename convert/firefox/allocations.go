package firefox

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/spill"
	"gprof/stream"
)

// allocations are those of the thread being written.
type allocations struct {
	rows  int64
	time  column
	bytes column
	stack column
}

func (a *allocations) allocate(f *spill.File) {
	a.time, a.bytes, a.stack = newColumn(f), newColumn(f), newColumn(f)
}

// allocations keeps rows until the markers are written.
func (s *Sink) allocations(b *stream.Batch) {
	a := &s.thread.allocations
	for i, id := range b.Stack {
		a.time.add(s.ms(b.Time[i]))
		a.bytes.add(b.Value[i])
		if id == 0 {
			a.stack.add(none)
		} else {
			a.stack.add(int64(id - 1))
		}
	}
	a.rows += int64(b.Len())
	a.time.flush()
	a.bytes.flush()
	a.stack.flush()
}

// endAllocations writes the table that the viewer shows as allocated and as
// freed memory. Sums of objects have no addresses, by which it would tell what is
// retained.
func (s *Sink) endAllocations() {
	a := &s.thread.allocations
	if a.rows == 0 {
		return
	}
	s.out.Key("nativeAllocations")
	s.out.BeginObject()
	s.writeColumn("time", &a.time, pipeline.Numbers, jsontext.AppendMillis)
	s.writeColumn("weight", &a.bytes, pipeline.Numbers, appendInt)
	s.out.Member("weightType", "bytes")
	s.writeColumn("stack", &a.stack, pipeline.Numbers, appendInt)
	s.out.Number("length", a.rows)
	s.out.EndObject()
}
