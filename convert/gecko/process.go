package gecko

import (
	"fmt"

	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// numKinds is the number of kinds of series.
const numKinds = stream.Pages + 1

// of returns a process, a made-up one if there is none with that id.
func (s *Sink) of(id stream.ProcessID) *stream.Process { return viewer.Process(s.tables, id) }

// beginProcess begins the object of a process, up to its list of threads. The
// object of the first is the profile, and is already open.
func (s *Sink) beginProcess(id stream.ProcessID) {
	s.process, s.next, s.threads = id, 0, true
	s.written = [numKinds]bool{}
	s.code.beginProcess()
	if id > 1 {
		s.out.BeginObject()
	}
	s.writeMeta(s.of(id))
	s.out.Key("threads")
	s.out.BeginArray()
}

// endProcess writes the parts of a process that have no rows, and the modules.
// Behind the first process it opens the list of the others.
func (s *Sink) endProcess() {
	s.endThreads()
	s.endPart()
	for kind := stream.Counts; kind < numKinds; kind++ {
		if kind != stream.Overheads && !s.written[kind] {
			s.beginPart(kind)
			s.endPart()
		}
	}
	s.writeLibs()
	s.out.Key("sources")
	s.out.Raw(`{"schema":{"id":0,"filename":1,"startLine":2,"startColumn":3,"sourceMapURL":4},"data":[]}`)
	if s.process > 1 {
		s.out.EndObject()
		return
	}
	s.out.Key("processes")
	s.out.BeginArray()
}

// part is one member of the object of a process: the rows of one kind.
type part interface {
	begin(s *Sink)
	rows(s *Sink, b *stream.Batch)
	end(s *Sink)
}

// newPart makes the part of a kind.
var newPart = [numKinds]func() part{
	stream.Counts:    func() part { return &counters{} },
	stream.Pauses:    func() part { return &pauses{} },
	stream.Overheads: func() part { return &overheads{} },
	stream.Logs:      func() part { return &logs{} },
	stream.Pages:     func() part { return &pages{} },
}

// partRows writes rows that belong to no track.
func (s *Sink) partRows(b *stream.Batch) error {
	kind := b.Series.Kind
	if s.part == nil || s.kind != kind {
		if s.written[kind] {
			return fmt.Errorf("%w: %v of process %d come a second time", ErrOrder, kind, s.process)
		}
		s.endThreads()
		s.endPart()
		s.beginPart(kind)
	}
	s.part.rows(s, b)
	return s.out.Err()
}

func (s *Sink) beginPart(kind stream.Kind) {
	s.part, s.kind, s.written[kind] = newPart[kind](), kind, true
	s.part.begin(s)
}

func (s *Sink) endPart() {
	if s.part != nil {
		s.part.end(s)
		s.part = nil
	}
}
