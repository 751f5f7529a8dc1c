package firefox

import (
	"gprof/convert/internal/heap"
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
	"gprof/stream"
	"gprof/stream/spill"
)

// markerPiece is the payloads of some markers of one event and thread.
type markerPiece struct {
	viewer.Markers
	start stream.Time // 0 of the output
	tid   int64
}

func (s *Sink) beginMarkers() {
	s.out.Object("markers")
	s.out.Array("data")
}

// markers writes the payloads of markers of one event.
func (s *Sink) markers(b *stream.Batch) {
	typ := &s.types[b.Series.Event-1]
	if isScriptAllocations(typ.Event, b) {
		s.scriptAllocations(typ.Event, b)
		return
	}
	s.names = typ.AppendNames(s.names[:0], b, 0, b.Len(), &s.texts)
	for i, phase := range b.Phase {
		from, to := viewer.Times(b, i, s.start)
		if phase == stream.PhaseEnd {
			from = none
		}
		if phase == stream.Instant || phase == stream.PhaseStart {
			to = none
		}
		s.mark(int64(s.names[i]), from, to, phase, typ.Category)
	}
	s.thread.markers.flush()
	for from := 0; from < b.Len(); {
		to := viewer.PieceEnd(b, from)
		p := s.markerPieces.Get()
		p.start, p.tid = s.start, s.tid
		p.Take(b, from, to, typ, s.start, &s.texts, &s.lostArguments[s.walk.Process])
		s.out.List(to-from, pipeline.Text, func(dst []byte) []byte {
			dst = p.appendTo(dst)
			s.markerPieces.Put(p)
			return dst
		})
		from = to
	}
}

// mark keeps a marker's columns besides its payload. Times are in ns of the output, or none.
func (s *Sink) mark(name, from, to int64, phase stream.Phase, category int) {
	s.thread.markers.add(name, from, to, int64(phase), int64(category))
	s.thread.marks++
	s.current().markers++
}

// appendTo appends all payloads, with commas between them.
func (p *markerPiece) appendTo(dst []byte) []byte {
	for i, id := range p.Rows.Stack {
		dst = p.AppendPayload(dst, i)
		if id != 0 {
			dst = p.appendCause(dst, i)
		}
		dst = append(dst, "},"...)
	}
	return dst[:len(dst)-1]
}

// appendCause appends the member for a marker's stack.
func (p *markerPiece) appendCause(dst []byte, i int) []byte {
	dst = jsontext.AppendInt(append(dst, `,"cause":{"tid":`...), p.tid)
	dst = jsontext.AppendMillis(append(dst, `,"time":`...), int64(p.Rows.Time[i]-p.start))
	dst = jsontext.AppendInt(append(dst, `,"stack":`...), int64(p.Rows.Stack[i]-1))
	return append(dst, '}')
}

// jank writes a marker of a delay.
func (s *Sink) jank(start, end stream.Time) {
	s.mark(int64(s.texts.Intern(viewer.DelayName(viewer.Process(s.tables, s.walk.Process)))), s.ms(start), s.ms(end), stream.Interval, 0)
	s.thread.markers.flush()
	s.out.Raw(`{"type":"` + viewer.JankType + `"}`)
}

// endMarkers writes the other columns.
func (s *Sink) endMarkers() {
	t := &s.thread
	t.jank.End(s.jank)
	s.out.EndArray()
	s.writeColumns(t.markers, member{"name", pipeline.Text, appendInt}, member{"startTime", pipeline.Numbers, jsontext.AppendMillis},
		member{"endTime", pipeline.Numbers, jsontext.AppendMillis}, member{"phase", pipeline.Text, appendInt}, member{"category", pipeline.Text, appendInt})
	s.out.Number("length", t.marks)
	s.out.EndObject()
}

// allocations keeps rows until the thread's end, when it is known what was freed of them.
func (s *Sink) allocations(b *stream.Batch) {
	s.lost.LoseLabels(b)
	s.heap.Add(b)
}

// stackOf is the index of a stack, or none.
func stackOf(id stream.StackID) int64 {
	if id == 0 {
		return none
	}
	return int64(id - 1)
}

// endAllocations writes the table that the viewer shows as allocated, freed and retained memory.
func (s *Sink) endAllocations() {
	if s.heap.Empty() {
		return
	}
	c, rows := s.thread.allocations, int64(0)
	all, unplaced := s.heap.Addressed()
	madeUp := s.heap.Rows(func(r *heap.Row) { // the heap keeps the error
		c.add(s.ms(r.Time), r.Bytes, stackOf(r.Stack), r.Address, r.Thread)
		c.flush()
		rows++
	})
	s.out.Object("nativeAllocations")
	s.writeColumns(c[:2], member{"time", pipeline.Numbers, jsontext.AppendMillis}, member{"weight", pipeline.Numbers, appendInt})
	s.out.Member("weightType", "bytes")
	s.writeColumn("stack", &c[2], pipeline.Numbers, appendInt)
	if all {
		s.writeColumns(c[3:], member{"memoryAddress", pipeline.Numbers, appendInt}, member{"threadId", pipeline.Numbers, appendInt})
	}
	s.out.Number("length", rows)
	s.out.EndObject()
	s.lost.Addresses(s.walk.Process, unplaced, madeUp)
}

// scriptAllocationType is the type of markers that the viewer turns into a table of objects that
// scripts allocated.
const scriptAllocationType = "JS allocation"

var (
	// The columns of that table that are payload members, and the names of these.
	scriptNumbers = []allocationColumn{{"weight", "size"}, {"inNursery", "inNursery"}}
	scriptTexts   = []allocationColumn{{"className", "className"}, {"typeName", "typeName"}, {"coarseType", "coarseType"}}
)

type allocationColumn struct{ key, field string }

// scriptAllocations are those of the thread being written.
type scriptAllocations struct {
	rows    int64
	columns columns      // times, stacks, numbers, texts by index in names
	names   viewer.Texts // of classes and types
}

func (a *scriptAllocations) allocate(f *spill.File) {
	a.columns = newColumns(f, 2+len(scriptNumbers)+len(scriptTexts))
	a.names.Reset()
}

// numbers and texts are the columns of scriptNumbers and scriptTexts.
func (a *scriptAllocations) numbers() columns { return a.columns[2:][:len(scriptNumbers)] }
func (a *scriptAllocations) texts() columns   { return a.columns[2+len(scriptNumbers):] }

// isScriptAllocations reports whether all markers of a batch have what the table needs: a start and
// a size.
func isScriptAllocations(e *stream.Event, b *stream.Batch) bool {
	size := argument(e, scriptNumbers[0].field)
	if e.Type != scriptAllocationType || size < 0 {
		return false
	}
	for i, phase := range b.Phase {
		if phase == stream.PhaseEnd || b.Args[size].TypeAt(i) != stream.Int {
			return false
		}
	}
	return true
}

// argument is the index of an event's field of that name, -1 for none.
func argument(e *stream.Event, name string) int {
	for i := range e.Fields {
		if e.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// scriptAllocations keeps rows until the markers are written. Other fields have no place.
func (s *Sink) scriptAllocations(e *stream.Event, b *stream.Batch) {
	a := &s.thread.scripts
	for i, at := range b.Time {
		a.columns.add(s.ms(at), stackOf(b.Stack[i]))
		for k, c := range scriptNumbers {
			a.numbers()[k].add(numberAt(b, argument(e, c.field), i))
		}
		for k, c := range scriptTexts {
			a.texts()[k].add(a.nameAt(b, argument(e, c.field), i))
		}
	}
	a.rows += int64(b.Len())
	a.columns.flush()
	if more := len(e.Fields) - a.placed(e); more > 0 {
		s.lost.Lose(s.walk.Process, "fields of allocations", int64(more*b.Len()))
	}
}

// placed is how many fields of an event the table has.
func (a *scriptAllocations) placed(e *stream.Event) (n int) {
	for _, list := range [][]allocationColumn{scriptNumbers, scriptTexts} {
		for _, c := range list {
			if argument(e, c.field) >= 0 {
				n++
			}
		}
	}
	return n
}

// numberAt is an argument of row i, none if it is no integer.
func numberAt(b *stream.Batch, arg, i int) int64 {
	if arg < 0 || b.Args[arg].TypeAt(i) != stream.Int {
		return none
	}
	return int64(b.Args[arg].BitsAt(i))
}

// nameAt is the index of an argument of row i in names, none if it is no text.
func (a *scriptAllocations) nameAt(b *stream.Batch, arg, i int) int64 {
	if arg < 0 || b.Args[arg].TypeAt(i) != stream.Text {
		return none
	}
	return int64(a.names.InternBytes(b.Args[arg].TextAt(i)))
}

// endScriptAllocations writes the table.
func (s *Sink) endScriptAllocations() {
	a := &s.thread.scripts
	if a.rows == 0 {
		return
	}
	s.out.Object("jsAllocations")
	s.writeColumn("time", &a.columns[0], pipeline.Numbers, jsontext.AppendMillis)
	for k, c := range scriptNumbers {
		form := appendInt
		if c.key == "inNursery" {
			form = appendBool
		}
		s.writeColumn(c.key, &a.numbers()[k], pipeline.Numbers, form)
	}
	s.out.Member("weightType", "bytes")
	names := a.names.List()
	for k, c := range scriptTexts {
		s.writeColumn(c.key, &a.texts()[k], pipeline.Text, func(dst []byte, n int64) []byte { return jsontext.AppendString(dst, names[n]) })
	}
	s.writeColumn("stack", &a.columns[1], pipeline.Numbers, appendInt)
	s.out.Number("length", a.rows)
	s.out.EndObject()
}

func appendBool(dst []byte, n int64) []byte {
	if n == 0 {
		return append(dst, "false"...)
	}
	return append(dst, "true"...)
}
