package gecko

import (
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// of returns a process, a made-up one if there is none with that id.
func (s *Sink) of(id stream.ProcessID) *stream.Process { return viewer.Process(s.tables, id) }

// step takes a step of the walk through the profile.
func (s *Sink) step(step viewer.Step) {
	switch step {
	case viewer.BeginProcess:
		s.beginProcess()
	case viewer.BeginThread:
		s.beginThread()
	case viewer.BeginMarkers:
		s.beginMarkers()
	case viewer.EndThread:
		s.endThread()
	case viewer.EndThreads:
		s.out.EndArray()
	case viewer.BeginPart:
		s.beginPart(s.walk.Part)
	case viewer.EndPart:
		s.endPart()
	case viewer.EndProcess:
		s.endProcess()
	}
}

// beginProcess begins the object of a process, up to its list of threads. The
// object of the first is the profile, and is already open.
func (s *Sink) beginProcess() {
	s.code.beginProcess()
	if s.walk.Process > 1 {
		s.out.BeginObject()
	}
	s.writeMeta(s.of(s.walk.Process))
	s.out.Key("threads")
	s.out.BeginArray()
}

// endProcess writes the parts of a process that have no rows, and the modules.
// Behind the first process it opens the list of the others.
func (s *Sink) endProcess() {
	for kind := stream.Counts; int(kind) < len(newPart); kind++ {
		if kind != stream.Overheads && !s.walk.Had(kind) {
			s.beginPart(kind)
			s.endPart()
		}
	}
	s.writeLibs()
	s.out.Key("sources")
	s.out.Raw(`{"schema":{"id":0,"filename":1,"startLine":2,"startColumn":3,"sourceMapURL":4},"data":[]}`)
	if s.walk.Process > 1 {
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
var newPart = [...]func() part{
	stream.Counts:    func() part { return &counters{} },
	stream.Pauses:    func() part { return &pauses{} },
	stream.Overheads: func() part { return &overheads{} },
	stream.Logs:      func() part { return &logs{} },
	stream.Pages:     func() part { return &pages{} },
}

func (s *Sink) beginPart(kind stream.Kind) {
	s.part = newPart[kind]()
	s.part.begin(s)
}

func (s *Sink) endPart() { s.part.end(s) }
