package gecko

import (
	"gprof/convert/internal/heap"
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

const markerColumns = `{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5}`

// beginMarkers ends the list of samples and begins that of markers.
func (s *Sink) beginMarkers() {
	s.endTable()
	s.beginTable("markers", markerColumns)
}

func (s *Sink) endMarkers() {
	s.writeAllocations()
	s.thread.jank.End(s.writeJank)
	s.endTable()
}

// markerPiece is some markers of one event and thread.
type markerPiece struct {
	viewer.Markers
	category int
	start    stream.Time // 0 of the output
	cause    []byte      // a marker's stack, up to the stack's number
	names    []int32     // by row: number among the strings of the thread
	stacks   []int32     // by row: number in the thread, -1 none
}

// markers writes the markers of one event.
func (s *Sink) markers(b *stream.Batch) {
	typ := &s.types[b.Series.Event-1]
	for from := 0; from < b.Len(); {
		to := viewer.PieceEnd(b, from)
		p := s.markerPieces.Get()
		p.category, p.start, p.cause = typ.Category, s.start, s.thread.cause
		p.names = typ.AppendNames(p.names[:0], b, from, to, &s.thread.strings)
		p.Take(b, from, to, typ, s.start, &s.thread.strings, &s.lostArguments[s.walk.Process])
		p.numberStacks(&s.thread)
		s.out.List(to-from, pipeline.Text, func(dst []byte) []byte {
			dst = p.appendTo(dst)
			s.markerPieces.Put(p)
			return dst
		})
		from = to
	}
}

// numberStacks gives the stacks of the rows the numbers that the thread counts.
func (p *markerPiece) numberStacks(t *thread) {
	p.stacks = p.stacks[:0]
	for _, id := range p.Rows.Stack {
		stack := int32(-1)
		if id != 0 {
			stack = t.captured(id)
		}
		p.stacks = append(p.stacks, stack)
	}
}

// appendTo appends all rows, with commas between them.
func (p *markerPiece) appendTo(dst []byte) []byte {
	for i := range p.Rows.Len() {
		dst = jsontext.AppendUint(append(dst, '['), uint64(p.names[i]))
		dst = p.appendPhase(dst, i)
		dst = jsontext.AppendInt(append(dst, ','), int64(p.category))
		dst = p.AppendPayload(append(dst, ','), i)
		if p.stacks[i] >= 0 {
			dst = p.appendStack(dst, i)
		}
		dst = append(dst, "}],"...)
	}
	return dst[:len(dst)-1]
}

// appendPhase appends start, end and phase of row i.
func (p *markerPiece) appendPhase(row []byte, i int) []byte {
	from, to := viewer.Times(&p.Rows, i, p.start)
	phase := p.Rows.Phase[i]
	row = append(row, ',')
	switch phase {
	case stream.Interval:
		row = append(jsontext.AppendMillis(row, from), ',')
		row = jsontext.AppendMillis(row, to)
	case stream.PhaseEnd:
		row = jsontext.AppendMillis(append(row, "null,"...), to)
	default:
		row = append(jsontext.AppendMillis(row, from), ",null"...)
	}
	return append(row, ',', '0'+byte(phase))
}

// appendStack appends the member for a marker's stack: a thread of one sample.
func (p *markerPiece) appendStack(row []byte, i int) []byte {
	row = append(row, p.cause...)
	row = jsontext.AppendInt(row, int64(p.stacks[i]))
	row = jsontext.AppendMillis(append(row, ','), int64(p.Rows.Time[i]-p.start))
	return append(row, "]]}}"...)
}

// appendCause appends what appendStack writes before the stack's number.
func (s *Sink) appendCause(dst []byte) []byte {
	dst = append(dst, `,"stack":{"name":"SyncProfile","registerTime":null,"unregisterTime":null,"processType":"`+viewer.ProcessType+`","tid":`...)
	dst = jsontext.AppendInt(dst, s.tid)
	dst = viewer.AppendPid(append(dst, `,"pid":`...), s.of(s.walk.Process))
	return append(dst, `,"markers":{"schema":`+markerColumns+`,"data":[]},"samples":{"schema":{"stack":0,"time":1},"data":[[`...)
}

// writeJank writes a marker of a delay.
func (s *Sink) writeJank(start, end stream.Time) {
	row := jsontext.AppendInt(append(s.row[:0], '['), int64(s.thread.strings.Intern(viewer.DelayName(s.of(s.walk.Process)))))
	row = s.appendTime(append(row, ','), start)
	row = s.appendTime(append(row, ','), end)
	s.endRow(append(row, `,1,0,{"type":"`+viewer.JankType+`"}`...))
}

// allocationName is the type of markers that the viewer turns into a table of allocations.
const allocationName = "Native allocation"

// allocations keeps rows until the thread's end, when it is known what was freed of them.
func (s *Sink) allocations(b *stream.Batch) {
	s.lost.LoseLabels(b)
	s.heap.Add(b)
}

// writeAllocations writes allocations as markers.
func (s *Sink) writeAllocations() {
	if s.heap.Empty() {
		return
	}
	name := s.thread.strings.Intern(allocationName)
	all, unplaced := s.heap.Addressed()
	madeUp := s.heap.Rows(func(r *heap.Row) { // the heap keeps the error
		row := jsontext.AppendInt(append(s.row[:0], '['), int64(name))
		row = s.appendTime(append(row, ','), r.Time)
		row = append(row, `,null,0,0,{"type":"`+allocationName+`","size":`...)
		row = jsontext.AppendInt(row, r.Bytes)
		if all {
			row = jsontext.AppendInt(append(row, `,"memoryAddress":`...), r.Address)
			row = jsontext.AppendInt(append(row, `,"threadId":`...), r.Thread)
		}
		if r.Stack != 0 {
			row = jsontext.AppendInt(append(row, s.thread.cause...), int64(s.thread.captured(r.Stack)))
			row = s.appendTime(append(row, ','), r.Time)
			row = append(row, "]]}}"...)
		}
		s.endRow(append(row, '}'))
	})
	s.lost.Addresses(s.walk.Process, unplaced, madeUp)
}
