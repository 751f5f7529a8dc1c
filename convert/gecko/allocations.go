package gecko

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// allocationName is the type of markers that the viewer takes for allocations: it
// makes a table of them.
const allocationName = "Native allocation"

// allocations writes allocations as markers. Sums of objects have no addresses,
// by which the viewer would tell what is retained.
func (s *Sink) allocations(b *stream.Batch) {
	name := s.thread.strings.Intern(allocationName)
	for i, id := range b.Stack {
		row := jsontext.AppendInt(append(s.row[:0], '['), int64(name))
		row = s.appendTime(append(row, ','), b.Time[i])
		row = append(row, `,null,0,0,{"type":"`+allocationName+`","size":`...)
		row = jsontext.AppendInt(row, b.Value[i])
		if id != 0 {
			row = jsontext.AppendInt(append(row, s.thread.cause...), int64(s.thread.captured(id)))
			row = s.appendTime(append(row, ','), b.Time[i])
			row = append(row, "]]}}"...)
		}
		s.endRow(append(row, '}'))
	}
}
