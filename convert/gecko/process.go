package gecko

import (
	"cmp"
	"time"

	"gprof/convert/internal/jsontext"
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

// beginProcess begins the object of a process, up to its list of threads. The first one's is the
// profile, already open.
func (s *Sink) beginProcess() {
	s.code.beginProcess()
	if s.walk.Process > 1 {
		s.out.BeginObject()
	}
	s.writeMeta(s.of(s.walk.Process))
	s.out.Array("threads")
}

// endProcess writes the parts without rows, and the modules. After the first process it opens the
// list of the others.
func (s *Sink) endProcess() {
	for kind := stream.Counts; int(kind) < len(newPart); kind++ {
		if kind != stream.Overheads && !s.walk.Had(kind) {
			s.beginPart(kind)
			s.endPart()
		}
	}
	s.writeLibs()
	s.out.Value("sources", `{"schema":{"id":0,"filename":1,"startLine":2,"startColumn":3,"sourceMapURL":4},"data":[]}`)
	if s.walk.Process > 1 {
		s.out.EndObject()
		return
	}
	s.out.Array("processes")
}

// part is a member of a process's object: the rows of one kind.
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

// writeMeta writes a process's meta. Most of it holds for the whole profile and is in the first
// process only.
func (s *Sink) writeMeta(p *stream.Process) {
	s.out.Object("meta")
	s.out.Number("version", version)
	s.out.Number("startTime", int64(s.start)/int64(time.Millisecond))
	viewer.WriteClock(s.out.Writer, p, s.start)
	var end stream.Time
	if p.Exit.Known {
		end = p.End
	}
	s.writeEnd("shutdownTime", end)
	s.writeEnd("contentEarliestTime", earliest(p))
	if s.walk.Process == 1 {
		s.writeProfileMeta(p)
	}
	s.out.Key("categories")
	s.categories.Write(s.out.Writer)
	s.writeSchemas()
	s.writeAbout(p)
	s.out.EndObject()
}

// earliest is when the oldest held chunk was begun, 0 if unknown because the ring has dropped the
// start.
func earliest(p *stream.Process) stream.Time {
	if p.RangeStart > 1 {
		return p.Earliest
	}
	return cmp.Or(p.Earliest, p.Start)
}

// writeProfileMeta writes what the viewer shows of the profile; it takes the
// description of the first process.
func (s *Sink) writeProfileMeta(p *stream.Process) {
	interval := viewer.Interval(s.tables)
	s.writeRange()
	s.out.Decimal("interval", interval, 6)
	s.out.Number("processType", 0)
	for _, flag := range []struct {
		key string
		on  bool
	}{{"stackwalk", true}, {"debug", viewer.SlowBuild(p)}, {"gcpoison", false}, {"asyncstack", false}} {
		s.out.Value(flag.key, bit(flag.on))
	}
	s.out.Flag("presymbolicated", true)
	s.out.Value("sampleUnits", viewer.SampleUnits)
	viewer.WriteProgram(s.out.Writer, p)
	s.out.Key("configuration")
	viewer.WriteConfiguration(s.out.Writer, p, interval)
}

// bit is a Boolean in the format.
func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

func (s *Sink) writeRange() {
	start, end := viewer.Range(s.tables)
	s.out.Decimal("profilingStartTime", s.ms(start), 6)
	s.out.Decimal("profilingEndTime", s.ms(end), 6)
}

// writeSchemas writes the schemas of all events. Those of the first process
// hold for all.
func (s *Sink) writeSchemas() {
	s.out.Key("markerSchema")
	types := s.types
	if s.walk.Process > 1 {
		types = nil
	}
	viewer.WriteSchemas(s.out.Writer, types, viewer.Gecko)
}

// writeAbout writes what the format has no place for, under a key that the viewer ignores.
func (s *Sink) writeAbout(p *stream.Process) {
	s.out.Object("gprof")
	viewer.WriteAbout(s.out.Writer, s.tables, p)
	s.out.EndObject()
}

// pauses is the list of ranges in which nothing was recorded.
type pauses struct{ viewer.Pauses }

func (p *pauses) begin(s *Sink) {
	p.Out, p.Start = s.out.Writer, s.start
	s.out.Array("pausedRanges")
}

func (p *pauses) rows(s *Sink, b *stream.Batch) {
	if n := p.Rows(b); n > 0 {
		s.lost.Lose(s.walk.Process, "pauses", n)
	}
}

func (p *pauses) end(s *Sink) {
	p.End()
	s.out.EndArray()
}

// logs is what the recorder had to say, and what became of its chunks.
type logs struct{ viewer.Logs }

func (l *logs) begin(s *Sink) {
	l.Out, l.Start = s.out.Writer, s.start
	s.out.Object("profilingLog")
	l.Begin(s.of(s.walk.Process))
}

func (l *logs) rows(_ *Sink, b *stream.Batch) { l.Rows(b) }

func (l *logs) end(s *Sink) {
	l.End()
	s.out.EndObject()
}

// pages is the list of pages.
type pages struct{ viewer.Pages }

func (p *pages) begin(s *Sink) {
	s.out.Array("pages")
}

func (p *pages) rows(s *Sink, b *stream.Batch) { p.Rows(s.out.Writer, b) }

func (p *pages) end(s *Sink) {
	p.End(s.out.Writer)
	s.out.EndArray()
}

// overheads is what the recorder itself cost, in microseconds: times, too.
type overheads struct{ viewer.Overheads }

func (o *overheads) begin(s *Sink) {
	s.out.Object("profilerOverhead")
	s.beginTable("samples", `{"time":0,"locking":1,"expiredMarkerCleaning":2,"counters":3,"threads":4}`)
}

func (o *overheads) rows(s *Sink, b *stream.Batch) {
	for i, at := range b.Time {
		row := jsontext.AppendFixed(append(s.row[:0], '['), s.ms(at), 3)
		for _, ns := range o.Add(b, i) {
			row = jsontext.AppendFixed(append(row, ','), ns, 3)
		}
		s.endRow(row)
	}
}

func (o *overheads) end(s *Sink) {
	s.endTable()
	o.WriteStatistics(s.out.Writer)
	s.out.EndObject()
}

// writeLibs writes the modules of which the process has frames, in the order of
// their addresses, which is that of their ids.
func (s *Sink) writeLibs() {
	s.out.Array("libs")
	for id := 1; id < len(s.code.used); id++ {
		if s.code.used[id] && s.code.ranges[id].end != 0 {
			s.writeLib(s.tables.Modules.At(stream.ModuleID(id)), s.code.ranges[id])
		}
	}
	s.out.EndArray()
}

func (s *Sink) writeLib(m stream.Module, r addresses) {
	path := cmp.Or(m.Path, m.Name)
	s.out.BeginObject()
	s.out.Number("start", int64(r.start))
	s.out.Number("end", int64(r.end))
	s.out.Number("offset", 0)
	s.out.Member("name", m.Name)
	s.out.Member("path", path)
	s.out.Member("debugName", m.BreakpadName())
	s.out.Member("debugPath", cmp.Or(m.DebugPath, path))
	s.out.Member("breakpadId", m.BreakpadID())
	s.out.Member("codeId", m.CodeID())
	s.out.Member("arch", cmp.Or(m.Arch, s.of(s.walk.Process).Machine()))
	s.out.EndObject()
}
