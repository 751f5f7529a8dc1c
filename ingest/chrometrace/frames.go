package chrometrace

import (
	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// frames are the stacks of a file that has a table of them.
type frames struct {
	known map[string]*frame // by number as it stands in the file
	bytes int64
}

type frame struct {
	function, category, parent string
	stack                      stream.StackID
	found, walked              bool
}

const (
	frameBytes = 256  // about
	maxCallers = 4096 // of a stack
)

// begin reads the table, if there is one.
func (f *frames) begin(s *source) {
	off, ok := s.file.parts["stackFrames"]
	if !ok {
		return
	}
	f.known = map[string]*frame{}
	in := jsonfile.NewScanner(s.file.r, off, s.file.size)
	if in.Kind() != jsonfile.Object {
		return
	}
	for in.Object(); !s.tables.Full(); {
		key, ok := in.Key()
		if !ok {
			return
		}
		number, row := string(key), new(frame)
		each(in.Raw(), func(key string, value []byte) {
			switch key {
			case "name":
				row.function = scalar(value)
			case "category":
				row.category = scalar(value)
			case "parent":
				row.parent = scalar(value)
			}
		})
		f.known[number] = row
		f.bytes += frameBytes + int64(len(number)+len(row.function))
		s.claim.Set(s.tables, f.bytes)
	}
}

// stackOf is the stack of a frame's number, and whether it is in the table.
func (s *source) stackOf(number string) (stream.StackID, bool) {
	var path []*frame
	at, ok := s.frames.known[number]
	for f := at; f != nil && !f.found && !f.walked && len(path) < maxCallers; f = s.frames.known[f.parent] {
		f.walked = true
		path = append(path, f)
	}
	if !ok {
		return 0, false
	}
	caller := stream.StackID(0)
	if len(path) > 0 {
		if above := s.frames.known[path[len(path)-1].parent]; above != nil && above.found {
			caller = above.stack
		}
	}
	for i := len(path) - 1; i >= 0; i-- {
		caller = s.tables.Stacks.Intern(caller, s.frame(path[i].function, path[i].category))
		path[i].stack, path[i].found = caller, true
	}
	return at.stack, true
}

func (s *source) frame(function, module string) stream.FrameID {
	f := stream.Frame{Function: s.tables.Strings.Intern(function), Label: true}
	if module != "" {
		f.Module = s.tables.Modules.Intern(stream.Module{Name: module, Path: module})
		f.Label = false
	}
	return s.tables.Frames.Intern(f)
}

// listed is a stack of texts, the innermost last.
func (s *source) listed(raw []byte) (id stream.StackID) {
	in := jsonfile.Bytes(raw, 0)
	if in.Kind() != jsonfile.Array {
		return 0
	}
	n := 0
	for in.Array(); in.More() && n < maxCallers; n++ {
		if value := in.Raw(); value != nil {
			id = s.tables.Stacks.Intern(id, s.frame(scalar(value), ""))
		}
	}
	return id
}

// sample makes a row of an event that is one.
func (s *source) sample(e *event, l *line) {
	if e.frame == nil && e.stack == nil {
		s.moment(e, l) // it says something else
		return
	}
	s.sampled(l, s.at(e), s.stack(e), 1)
}

// stack is that of an event, 0 if it has none.
func (s *source) stack(e *event) stream.StackID {
	switch {
	case e.frame != nil:
		stack, known := s.stackOf(scalar(e.frame))
		if !known {
			s.odd.undefined++
		}
		return stack
	case e.stack != nil:
		return s.listed(e.stack)
	}
	return 0
}

func (s *source) sampled(l *line, at stream.Time, stack stream.StackID, weight int64) {
	b := s.rows.Row(stream.Series{Process: l.process, Track: l.track, Kind: stream.Samples}, 0, at)
	b.Stack, b.Weight, b.CPU = append(b.Stack, stack), append(b.Weight, weight), append(b.CPU, -1)
	b.AppendOwner(stream.Owner{Thread: l.tid})
}

// samples reads the list of samples that a file may have beside its events. Their threads are told
// without processes.
func (s *source) samples() {
	off, ok := s.file.parts["samples"]
	if !ok {
		return
	}
	byTid := map[int64]*line{}
	for _, l := range s.lines {
		if _, known := byTid[l.tid]; !known && l.wanted {
			byTid[l.tid] = l
		}
	}
	in := jsonfile.NewScanner(s.file.r, off, s.file.size)
	if in.Kind() != jsonfile.Array {
		return
	}
	for in.Array(); in.More() && !s.tables.Full(); {
		s.global(in.Raw(), byTid)
		if s.rows.Full() {
			s.hand()
		}
	}
	s.damage(in.Err())
}

func (s *source) global(raw []byte, byTid map[int64]*line) {
	var e event
	tid, weight, number := int64(0), int64(1), ""
	each(raw, func(key string, value []byte) {
		switch key {
		case "tid":
			tid, _ = jsonfile.Int(value)
		case "ts":
			e.at, e.timed = timeOf(value, &s.odd)
		case "weight":
			weight, _ = jsonfile.Fixed(value, 0)
		case "sf":
			number = scalar(value)
		}
	})
	l, known := byTid[tid]
	stack, ok := s.stackOf(number)
	ok = ok || number == "" // it has none
	if !known || !ok || !e.timed || weight < 0 {
		s.odd.samples++
		return
	}
	s.sampled(l, s.at(&e), stack, weight)
}
