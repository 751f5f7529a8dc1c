package gecko

import (
	"fmt"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// thread is the thread being written. Its lists of samples and markers stream
// through; its tables are written at its end.
type thread struct {
	code    *code
	open    bool
	serial  int32 // from 1
	markers bool  // the list of samples is finished
	track   stream.TrackID
	strings viewer.Texts
	frames  index[stream.FrameID] // merged ids
	callers []pair                // by number of a stack: that of the caller, -1 none, and of the frame
	cause   []byte                // a marker's stack, up to the stack's number
	jank    viewer.Jank

	path     []stream.StackID // scratch
	location []byte           // scratch
}

func (t *thread) allocate(c *code) {
	t.code = c
	t.frames.allocate(c.merged.Frames.Len())
}

// stack returns the number of a stack in the thread's table. Its callers have
// lower ones.
func (t *thread) stack(id stream.StackID) int32 {
	nodes := t.code.nodes
	id = t.code.stacks[id]
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

// trackRows writes rows that belong to a track.
func (s *Sink) trackRows(b *stream.Batch) error {
	if !s.enter(b.Series.Track) {
		return fmt.Errorf("%w: %v of track %d", ErrOrder, b.Series.Kind, b.Series.Track)
	}
	if b.Series.Kind == stream.Samples {
		if s.thread.markers {
			return fmt.Errorf("%w: samples of track %d behind its markers", ErrOrder, b.Series.Track)
		}
		s.samples(b)
		return s.out.Err()
	}
	s.beginMarkers()
	if b.Series.Kind == stream.Markers {
		s.markers(b)
	} else {
		s.thread.jank.Rows(b, s.writeJank)
	}
	return s.out.Err()
}

// enter makes a track the one being written. Tracks before it that have no rows
// become empty threads. It reports whether the track was still to come.
func (s *Sink) enter(track stream.TrackID) bool {
	if !s.threads {
		return false
	}
	for !s.thread.open || s.thread.track != track {
		if s.next == len(s.tracks[s.process]) {
			return false
		}
		s.endThread()
		s.beginThread(s.tracks[s.process][s.next])
		s.next++
	}
	return true
}

// endThreads writes the threads that are still to come, which are empty, and
// ends the list.
func (s *Sink) endThreads() {
	if !s.threads {
		return
	}
	for _, track := range s.tracks[s.process][s.next:] {
		s.endThread()
		s.beginThread(track)
	}
	s.endThread()
	s.out.EndArray()
	s.threads = false
}

// beginThread begins the object of a thread, up to its list of samples.
func (s *Sink) beginThread(track stream.TrackID) {
	s.tid++
	s.thread.serial++
	s.thread.open, s.thread.track, s.thread.markers = true, track, false
	s.thread.strings.Reset()
	s.out.BeginObject()
	s.out.Member("name", viewer.ThreadName(s.tables, track, track == s.tracks[s.process][0]))
	s.out.Member("processType", viewer.ProcessType)
	s.out.Member("processName", s.of(s.process).Title())
	s.out.Key("pid")
	s.out.Int(int64(s.of(s.process).OutPid))
	s.out.Key("tid")
	s.out.Int(s.tid)
	s.writeLifetime(track)
	s.thread.cause = s.appendCause(nil) // pieces keep it
	s.beginSamples()
}

// writeLifetime writes when a track began and ended; null is "still there".
func (s *Sink) writeLifetime(track stream.TrackID) {
	start, end := viewer.Lifetime(s.tables, s.of(s.process), track)
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

// endThread writes the tables of the open thread, if there is one.
func (s *Sink) endThread() {
	if !s.thread.open {
		return
	}
	s.beginMarkers()
	s.endMarkers()
	s.writeStacks()
	s.writeFrames()
	s.writeStrings()
	s.out.EndObject()
	s.thread.open = false
	s.thread.callers = s.thread.callers[:0]
	s.thread.frames.reset()
}

func (s *Sink) writeStacks() {
	s.beginTable("stackTable", `{"prefix":0,"frame":1}`)
	s.writePairs(s.thread.callers, appendStackRow)
	s.endTable()
}

// writeFrames writes the frames. The columns that we have come first, because a
// row may end early.
func (s *Sink) writeFrames() {
	t := &s.thread
	s.beginTable("frameTable", `{"location":0,"relevantForJS":1,"category":2,"subcategory":3,"innerWindowID":4,"implementation":5,"line":6,"column":7}`)
	rows := t.callers[:0] // they are written
	for _, id := range t.frames.ids {
		f := t.code.merged.Frames.At(id)
		t.location = t.code.appendLocation(t.location[:0], f)
		rows = append(rows, pair{t.strings.InternBytes(t.location), int32(s.categories.Place(f.Category))})
	}
	t.callers = rows
	s.writePairs(rows, appendFrameRow)
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
