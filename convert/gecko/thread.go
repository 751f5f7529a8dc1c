package gecko

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// thread is the thread being written. Its lists of samples and markers stream
// through; its tables are written at its end.
type thread struct {
	code    *code
	serial  int32 // from 1
	strings viewer.Texts
	frames  index[stream.FrameID] // merged ids
	callers []pair                // by number of a stack: that of the caller, -1 none, and of the frame
	cause   []byte                // a marker's stack, up to the stack's number
	jank    viewer.Jank

	path     []stream.StackID // scratch
	location []byte           // scratch
	rows     []frameRow       // scratch
}

func (t *thread) allocate(c *code) {
	t.code = c
	t.frames.allocate(c.merged.Frames.Len())
}

// captured returns the number of a stack in the thread's table that was captured by
// a call.
func (t *thread) captured(id stream.StackID) int32 { return t.number(t.code.captured(id)) }

// number returns that of a merged stack. Its callers have lower ones.
func (t *thread) number(id stream.StackID) int32 {
	nodes := t.code.nodes
	t.path = t.path[:0]
	for at := id; at != 0 && nodes[at].thread != t.serial; at = nodes[at].caller {
		t.path = append(t.path, at)
	}
	for i := len(t.path) - 1; i >= 0; i-- {
		t.add(&nodes[t.path[i]])
	}
	return nodes[id].number
}

// add gives a stack, whose caller has a number, the next one.
func (t *thread) add(n *node) {
	row := pair{a: -1}
	if n.caller != 0 {
		row.a = t.code.nodes[n.caller].number
	}
	if t.frames.number[n.frame] == 0 {
		t.frames.add(n.frame)
		t.code.used[t.code.merged.Frames.At(n.frame).Module] = true
	}
	row.b = t.frames.number[n.frame] - 1
	n.thread, n.number = t.serial, int32(len(t.callers))
	t.callers = append(t.callers, row)
}

// beginThread begins the object of a thread, up to its list of samples.
func (s *Sink) beginThread() {
	s.tid = s.tids.Next(s.walk.Track)
	s.thread.serial++
	s.thread.strings.Reset()
	s.out.BeginObject()
	s.out.Member("name", viewer.ThreadName(s.tables, s.walk.Track, s.walk.Main))
	s.out.Member("processType", viewer.ProcessType)
	s.out.Member("processName", s.of(s.walk.Process).Title())
	viewer.WriteSite(s.out.Writer, s.of(s.walk.Process))
	s.out.Key("pid")
	s.out.RawBytes(viewer.AppendPid(nil, s.of(s.walk.Process)))
	s.out.Key("tid")
	s.out.Int(s.tid)
	s.writeLifetime()
	s.thread.cause = s.appendCause(nil) // pieces keep it
	s.beginSamples()
}

// writeLifetime writes when a track began and ended; null is "still there".
func (s *Sink) writeLifetime() {
	start, end := viewer.Lifetime(s.tables, s.of(s.walk.Process), s.walk.Track)
	s.out.Key("registerTime")
	s.out.Fixed(s.ms(start), 6)
	s.writeEnd("unregisterTime", end)
}

// writeEnd writes a time that may not have come; then it is 0.
func (s *Sink) writeEnd(key string, t stream.Time) {
	s.out.Key(key)
	if t == 0 {
		s.out.Null()
	} else {
		s.out.Fixed(s.ms(t), 6)
	}
}

// endThread writes the tables of the thread.
func (s *Sink) endThread() {
	s.endMarkers()
	s.writeStacks()
	s.writeFrames()
	s.writeStrings()
	s.out.EndObject()
	s.thread.callers = s.thread.callers[:0]
	s.thread.frames.reset()
}

func (s *Sink) writeStacks() {
	s.beginTable("stackTable", `{"prefix":0,"frame":1}`)
	writeRows(s, &s.pairs, s.thread.callers, appendStackRow)
	s.endTable()
}

// writeFrames writes the frames. The columns that we have come first, because a
// row may end early.
func (s *Sink) writeFrames() {
	t := &s.thread
	s.beginTable("frameTable", `{"location":0,"relevantForJS":1,"category":2,"subcategory":3,"innerWindowID":4,"implementation":5,"line":6,"column":7}`)
	t.rows = t.rows[:0]
	for _, id := range t.frames.ids {
		f := t.code.merged.Frames.At(id)
		t.location = t.code.appendLocation(t.location[:0], f)
		t.rows = append(t.rows, frameRow{t.strings.InternBytes(t.location), s.categories.Place(f.Category), f.Scripted, f.Window, f.Script, f.Line, f.Column})
	}
	writeRows(s, &s.frameRows, t.rows, appendFrameRow)
	s.endTable()
}

func (s *Sink) writeStrings() {
	s.out.Key("stringTable")
	s.out.BeginArray()
	s.out.Texts(s.thread.strings.List())
	s.out.EndArray()
}

// beginTable begins a member that is a table, up to its rows.
func (s *Sink) beginTable(key, schema string) {
	s.out.Key(key)
	s.out.BeginObject()
	s.out.Key("schema")
	s.out.Raw(schema)
	s.out.Key("data")
	s.out.BeginArray()
}

func (s *Sink) endTable() {
	s.out.EndArray()
	s.out.EndObject()
}

// endRow writes a row that was begun with [ in s.row.
func (s *Sink) endRow(row []byte) {
	row = append(row, ']')
	s.out.RawBytes(row)
	s.row = row[:0]
}

// appendTime appends a time of the output.
func (s *Sink) appendTime(dst []byte, t stream.Time) []byte {
	return jsontext.AppendMillis(dst, s.ms(t))
}
