package firefox

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// markerPiece is the payloads of some markers of one event and thread.
type markerPiece struct {
	viewer.Markers
	start stream.Time // 0 of the output
	tid   int64
}

func (s *Sink) beginMarkers() {
	s.out.Key("markers")
	s.out.BeginObject()
	s.out.Key("data")
	s.out.BeginArray()
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
	s.thread.flushMarks()
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

// mark keeps what is known of a marker besides its payload. Times are in ns of
// the output, or none.
func (s *Sink) mark(name, from, to int64, phase stream.Phase, category int) {
	t := &s.thread
	t.name.add(name)
	t.begin.add(from)
	t.end.add(to)
	t.phase.add(int64(phase))
	t.category.add(int64(category))
	t.marks++
	s.current().markers++
}

func (t *thread) flushMarks() {
	for _, c := range []*column{&t.name, &t.begin, &t.end, &t.phase, &t.category} {
		c.flush()
	}
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
	s.thread.flushMarks()
	s.out.Raw(`{"type":"` + viewer.JankType + `"}`)
}

// endMarkers writes the other columns.
func (s *Sink) endMarkers() {
	t := &s.thread
	t.jank.End(s.jank)
	s.out.EndArray()
	s.writeColumn("name", &t.name, pipeline.Text, appendInt)
	s.writeColumn("startTime", &t.begin, pipeline.Numbers, jsontext.AppendMillis)
	s.writeColumn("endTime", &t.end, pipeline.Numbers, jsontext.AppendMillis)
	s.writeColumn("phase", &t.phase, pipeline.Text, appendInt)
	s.writeColumn("category", &t.category, pipeline.Text, appendInt)
	s.out.Number("length", t.marks)
	s.out.EndObject()
}
