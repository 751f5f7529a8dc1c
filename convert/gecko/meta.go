package gecko

import (
	"cmp"
	"time"

	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// writeMeta writes what a process is. Most of it holds for the whole profile
// and stands in the first process only.
func (s *Sink) writeMeta(p *stream.Process) {
	s.out.Key("meta")
	s.out.BeginObject()
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

// earliest is when the oldest chunk of a process that is still held was begun, 0 if the
// ring has given up what was at the start and nobody knows.
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
	s.out.Key("interval")
	s.out.Fixed(interval, 6)
	s.out.Number("processType", 0)
	for _, flag := range []struct {
		key string
		on  bool
	}{{"stackwalk", true}, {"debug", viewer.SlowBuild(p)}, {"gcpoison", false}, {"asyncstack", false}} {
		s.out.Key(flag.key)
		s.out.Raw(bit(flag.on))
	}
	s.out.Key("presymbolicated")
	s.out.Bool(true)
	s.out.Key("sampleUnits")
	s.out.Raw(viewer.SampleUnits)
	viewer.WriteProgram(s.out.Writer, p)
	s.out.Key("configuration")
	viewer.WriteConfiguration(s.out.Writer, p, interval)
}

// bit is how the format writes what is so or not.
func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

func (s *Sink) writeRange() {
	start, end := viewer.Range(s.tables)
	s.out.Key("profilingStartTime")
	s.out.Fixed(s.ms(start), 6)
	s.out.Key("profilingEndTime")
	s.out.Fixed(s.ms(end), 6)
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

// writeAbout writes what the format has no place for, under a key that the
// viewer passes over.
func (s *Sink) writeAbout(p *stream.Process) {
	s.out.Key("gprof")
	s.out.BeginObject()
	viewer.WriteAbout(s.out.Writer, s.tables, p)
	s.out.EndObject()
}
