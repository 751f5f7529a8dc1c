package gecko

import (
	"slices"
	"strconv"
	"sync"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// thread is the current thread. Its samples and markers stream through; its tables are written at
// its end.
type thread struct {
	code    *code
	serial  int32 // from 1
	strings viewer.Texts
	frames  index[stream.FrameID] // merged ids
	rowsOf  stream.Series         // the last series of samples or waits
	callers []pair                // by number of a stack: that of the caller, -1 none, and of the frame
	cause   []byte                // a marker's stack, up to the stack's number
	jank    viewer.Jank

	path []stream.StackID // scratch
}

func (t *thread) allocate(c *code) {
	t.code = c
	t.frames.allocate(c.merged.Frames.Len())
	t.callers = make([]pair, 0, len(c.nodes)) // to grow by megabytes can't be interrupted, for which collections wait
}

// captured returns the index of a stack captured in a call.
func (t *thread) captured(id stream.StackID) int32 { return t.number(t.code.captured(id)) }

// number returns the index of a merged stack. Callers have lower ones.
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

// add gives a stack, whose caller has an index, the next one.
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
	s.out.Number("tid", s.tid)
	s.writeLifetime()
	s.thread.cause = s.appendCause(nil) // pieces keep it
	s.beginSamples()
}

// writeLifetime writes when a track began and ended; null is "still there".
func (s *Sink) writeLifetime() {
	start, end := viewer.Lifetime(s.tables, s.of(s.walk.Process), s.walk.Track)
	s.out.Decimal("registerTime", s.ms(start), 6)
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
	s.writeCode()
	s.out.EndObject()
	s.thread.callers = s.thread.callers[:0]
	s.thread.frames.reset()
}

func (s *Sink) writeStacks() {
	s.beginTable("stackTable", `{"prefix":0,"frame":1}`)
	writeRows(s, &s.pairs, s.thread.callers, appendStackRow)
	s.endTable()
}

// maxAside is the most frames of a thread that are one piece, as mostly all are.
const maxAside = 4 * viewer.MaxRows

// writeCode writes the frames, and the strings, which they add to: whichever piece comes first numbers them. Our columns of
// frames come first, because a row may end early.
func (s *Sink) writeCode() {
	p, texts, ids := s.frameRows.Get(), s.thread.strings, slices.Clone(s.thread.frames.ids)
	s.thread.strings = viewer.Texts{}
	number := sync.OnceFunc(func() { p.rows = s.appendFrames(p.rows[:0], ids, &texts) })
	s.beginTable("frameTable", `{"location":0,"relevantForJS":1,"category":2,"subcategory":3,"innerWindowID":4,"implementation":5,"line":6,"column":7}`)
	if len(ids) <= maxAside {
		s.out.List(len(ids), pipeline.Numbers, func(dst []byte) []byte {
			number()
			dst = appendRows(dst, p.rows, appendFrameRow)
			s.frameRows.Put(p)
			return dst
		})
	} else {
		number()
		writeRows(s, &s.frameRows, p.rows, appendFrameRow)
	}
	s.endTable()
	s.out.Array("stringTable")
	if viewer.IsPiece(len(ids)) && len(ids) <= maxAside {
		s.out.ListAfter(len(ids), pipeline.Text, func(dst []byte) []byte {
			number()
			return viewer.AppendTexts(dst, texts.List())
		})
	} else {
		number()
		s.out.Texts(texts.List())
	}
	s.out.EndArray()
}

// appendFrames appends the rows of frames.
func (s *Sink) appendFrames(dst []frameRow, ids []stream.FrameID, texts *viewer.Texts) []frameRow {
	var location []byte
	for _, id := range ids {
		f := s.code.merged.Frames.At(id)
		location = s.code.appendLocation(location[:0], f)
		dst = append(dst, frameRow{texts.InternBytes(location), s.categories.Place(f.Category), f.Scripted, f.Window, f.Script, f.Line, f.Column})
	}
	return dst
}

// beginTable begins a member that is a table, up to its rows.
func (s *Sink) beginTable(key, schema string) {
	s.out.Object(key)
	s.out.Value("schema", schema)
	s.out.Array("data")
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

// Bounds of the rows of samples. Some tools make one sample of a sleeping thread: a hundred
// thousand are minutes at a browser's rate.
const (
	MaxRepeat  = 100_000    // of one sample
	MaxRepeats = 64_000_000 // of all, beside the first of each
	pieceRows  = 10_000     // of one sample in a piece
)

// beginSamples begins the list of samples. The viewer wants a column of delays, but rows may end
// before it.
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
	s.thread.rowsOf = b.Series
	p := s.samplePieces.Get()
	p.rows = p.rows[:0]
	rows := 0
	var merged []stream.StackID
	for i, at := range b.Time {
		if i%ahead == 0 {
			merged = s.code.merge(s.merged[:0], b.Stack[i:min(i+ahead, b.Len())], s.thread.serial)
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

// sampled reports whether a track has samples, among which those of another kind have no place: rows
// are in the order of time.
func (t *thread) sampled(of stream.Series) bool {
	is := t.rowsOf
	return is.Process == of.Process && is.Track == of.Track && is.Kind != of.Kind
}

// waits writes samples without CPU time.
func (s *Sink) waits(b *stream.Batch) {
	s.thread.rowsOf = b.Series
	s.lost.Lose(b.Series.Process, "lengths of waits", int64(b.Len()))
	p := s.samplePieces.Get()
	p.rows = p.rows[:0]
	for from := 0; from < b.Len(); from += ahead {
		for i, stack := range s.code.merge(s.merged[:0], b.Stack[from:min(from+ahead, b.Len())], s.thread.serial) {
			row := sample{at: s.ms(b.Time[from+i]), stack: -1}
			if stack != 0 {
				row.stack = s.thread.number(stack)
			}
			p.rows = append(p.rows, row)
		}
	}
	s.writeSamples(p, b.Len())
}

// rowsOf is the number of rows for a sample of that weight.
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

// appendTo appends the rows of a sample, each followed by a comma. The first one has the CPU time,
// if known; it is zero in the others.
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

// pair is a row of two numbers.
type pair struct{ a, b int32 }

// frameRow is a row of the frame table.
type frameRow struct {
	location int32
	place    viewer.Place
	scripted bool
	window   int64 // 0 unknown
	// Of a frame of a script.
	script       bool
	line, column int32 // 0 unknown
}

// tablePiece is a piece of a table.
type tablePiece[T any] struct{ rows []T }

// writeRows writes rows by appendRow. It copies them.
func writeRows[T any](s *Sink, pool *viewer.Pool[tablePiece[T]], rows []T, appendRow func(dst []byte, row T) []byte) {
	for len(rows) > 0 {
		n := min(len(rows), viewer.MaxRows)
		p := pool.Get()
		p.rows = append(p.rows[:0], rows[:n]...)
		s.out.List(n, pipeline.Numbers, func(dst []byte) []byte {
			dst = appendRows(dst, p.rows, appendRow)
			pool.Put(p)
			return dst
		})
		rows = rows[n:]
	}
}

// appendRows appends some rows, with commas between them.
func appendRows[T any](dst []byte, rows []T, appendRow func(dst []byte, row T) []byte) []byte {
	for _, row := range rows {
		dst = append(appendRow(dst, row), ',')
	}
	return dst[:len(dst)-1]
}

func appendStackRow(dst []byte, row pair) []byte {
	if row.a < 0 {
		dst = append(dst, "[null,"...)
	} else {
		dst = append(jsontext.AppendUint(append(dst, '['), uint64(row.a)), ',')
	}
	return append(jsontext.AppendUint(dst, uint64(row.b)), ']')
}

// appendFrameRow appends a frame. A row ends after the category if there is no more.
func appendFrameRow(dst []byte, row frameRow) []byte {
	dst = jsontext.AppendUint(append(dst, '['), uint64(row.location))
	dst = strconv.AppendBool(append(dst, ','), row.scripted)
	dst = jsontext.AppendUint(append(dst, ','), uint64(row.place.Category))
	dst = jsontext.AppendUint(append(dst, ','), uint64(row.place.Sub))
	if row.window != 0 || row.script {
		dst = appendKnown(dst, row.window)
	}
	if row.script {
		dst = appendKnown(append(dst, ",null"...), int64(row.line))
		dst = appendKnown(dst, int64(row.column))
	}
	return append(dst, ']')
}

// appendKnown appends a comma and a number, null if unknown.
func appendKnown(dst []byte, n int64) []byte {
	if n <= 0 {
		return append(dst, ",null"...)
	}
	return jsontext.AppendUint(append(dst, ','), uint64(n))
}

// index numbers ids from 0 by first use.
type index[ID ~int32] struct {
	number []int32 // by id, plus 1; 0 not used yet
	ids    []ID    // by number
}

// allocate makes room for ids up to max.
func (x *index[ID]) allocate(max int) { x.number = make([]int32, max+1) }

// add gives id the next number.
func (x *index[ID]) add(id ID) {
	x.ids = append(x.ids, id)
	x.number[id] = int32(len(x.ids))
}

// reset drops all ids, in time proportional to them.
func (x *index[ID]) reset() {
	for _, id := range x.ids {
		x.number[id] = 0
	}
	x.ids = x.ids[:0]
}
