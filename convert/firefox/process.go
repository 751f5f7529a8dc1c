package firefox

import (
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// step takes a step of the walk through the profile.
func (s *Sink) step(step viewer.Step) {
	switch step {
	case viewer.BeginProcess:
		s.beginProcess()
	case viewer.BeginThread:
		s.beginThread()
	case viewer.BeginMarkers:
		s.endSamples()
		s.beginMarkers()
	case viewer.EndThread:
		s.endThread()
	case viewer.BeginPart:
		s.beginPart()
	case viewer.EndPart:
		s.endPart()
	case viewer.EndProcess:
		s.endProcess()
	}
}

// beginProcess begins what is told of a process besides its threads.
func (s *Sink) beginProcess() {
	s.main = len(s.threads)
	s.pages = viewer.Pages{Pid: s.pid()}
	s.pauses = viewer.Pauses{Out: s.about.Writer, Start: s.start}
	s.about.BeginObject()
	s.about.Member("outputPid", s.pid())
	viewer.WriteAbout(s.about.Writer, s.tables, s.process())
	s.about.Array("pausedRanges")
}

func (s *Sink) endProcess() {
	if !s.walk.Had(stream.Logs) {
		s.beginLogs()
		s.logs.End()
	}
	s.pages.End(s.visited.Writer)
	s.pauses.End()
	s.about.EndArray()
	s.about.EndObject()
}

func (s *Sink) beginLogs() {
	s.logs = viewer.Logs{Out: s.logged.Writer, Start: s.start}
	s.logs.Begin(s.process())
}

// pid is the process as the viewer knows it: it must be a string.
func (s *Sink) pid() string { return s.process().OutPid }

func (s *Sink) beginPart() {
	switch s.walk.Part {
	case stream.Overheads:
		s.cost.sum = viewer.Overheads{}
	case stream.Logs:
		s.beginLogs()
	}
}

func (s *Sink) endPart() {
	switch s.walk.Part {
	case stream.Counts:
		s.endCounter()
	case stream.Overheads:
		s.cost.end(s)
	case stream.Logs:
		s.logs.End()
	}
}

func (s *Sink) pausedRanges(b *stream.Batch) {
	if n := s.pauses.Rows(b); n > 0 {
		s.lost.Lose(s.walk.Process, "pauses", n)
	}
}

// overheads is the recorder's own cost in the current process, in microseconds except for the time.
type overheads struct {
	sum     viewer.Overheads
	count   int64
	columns columns // times, costs
}

// costNames are the names of the columns, in the order of the arguments.
var costNames = [...]string{"locking", "expiredMarkerCleaning", "counters", "threads"}

func (o *overheads) rows(b *stream.Batch) {
	for i, at := range b.Time {
		o.columns[0].add(int64(at))
		for k, ns := range o.sum.Add(b, i) {
			o.columns[1+k].add(ns)
		}
	}
	o.count += int64(b.Len())
	o.columns.flush()
}

func (o *overheads) end(s *Sink) {
	out := s.costs.Writer
	out.BeginObject()
	out.Member("pid", s.pid())
	out.Number("mainThreadIndex", int64(s.main))
	out.Object("samples")
	writeColumnTo(out, "time", &o.columns[0], s.appendTime)
	for k := range costNames {
		writeColumnTo(out, costNames[k], &o.columns[1+k], appendMicros)
	}
	out.Number("length", o.count)
	out.EndObject()
	o.sum.WriteStatistics(out)
	out.EndObject()
	s.columns.Reset()
	o.count = 0
}
