package gecko

import (
	"fmt"
	"strings"
	"time"

	"gprof/stream"
)

// writeMeta writes what a process is. Most of it holds for the whole profile
// and stands in the first process only.
func (s *Sink) writeMeta(p *stream.Process) {
	s.out.Key("meta")
	s.out.BeginObject()
	s.number("version", version)
	s.number("startTime", int64(s.start)/int64(time.Millisecond))
	var end stream.Time
	if p.Exit.Known {
		end = p.End
	}
	s.writeEnd("shutdownTime", end)
	if s.process == 1 {
		s.writeProfileMeta(p)
	}
	s.writeCategories()
	s.writeSchemas()
	s.writeAbout(p)
	s.out.EndObject()
}

// writeProfileMeta writes what the viewer shows of the profile; it takes the
// description of the first process.
func (s *Sink) writeProfileMeta(p *stream.Process) {
	interval := s.interval()
	s.writeRange(interval)
	s.out.Key("interval")
	s.out.Fixed(interval, 6)
	s.number("processType", 0)
	for _, key := range []string{"debug", "gcpoison", "asyncstack"} {
		s.number(key, 0)
	}
	s.number("stackwalk", 1)
	s.out.Key("presymbolicated")
	s.out.Bool(true)
	s.out.Key("sampleUnits")
	s.out.Raw(`{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"}`)
	s.member("product", product(p))
	s.member("misc", misc(p))
	s.member("oscpu", strings.TrimSpace(p.OS+" "+p.Arch))
	s.member("platform", p.OS)
	s.member("abi", p.Arch)
	if p.CPUs > 0 {
		s.number("logicalCPUs", int64(p.CPUs))
	}
	s.writeConfiguration(p, interval)
}

// interval is the shortest sampling interval, in ns. The viewer wants one even
// if there are no samples.
func (s *Sink) interval() int64 {
	var shortest int64
	for _, p := range s.tables.Processes {
		if p.Interval > 0 && (shortest == 0 || p.Interval < shortest) {
			shortest = p.Interval
		}
	}
	if shortest == 0 {
		return int64(time.Millisecond)
	}
	return shortest
}

// writeRange writes the range of time that the viewer shows at first: all of
// the recording. Without it the range would be that of the samples.
func (s *Sink) writeRange(interval int64) {
	var start, end stream.Time
	for i, p := range s.tables.Processes {
		if i == 0 || p.Start < start {
			start = p.Start
		}
		end = max(end, p.End)
	}
	// A range without any length can't be drawn.
	end = max(end, start+stream.Time(interval))
	s.out.Key("profilingStartTime")
	s.out.Fixed(s.ms(max(start, s.start)), 6)
	s.out.Key("profilingEndTime")
	s.out.Fixed(s.ms(end), 6)
}

// product is the service and its version, which the viewer shows as a title.
func product(p *stream.Process) string {
	name := p.Service
	if name == "" {
		name = p.Name
	}
	return strings.TrimSpace(name + " " + p.Version)
}

// misc is a note about the build. It ends with a bracket, because the viewer
// takes a number at the end for the version of the product.
func misc(p *stream.Process) string {
	var notes []string
	if p.Revision != "" {
		notes = append(notes, "revision "+p.Revision)
	}
	if p.Go != "" {
		notes = append(notes, p.Go)
	}
	return fmt.Sprintf("gprof (%s)", strings.Join(notes, ", "))
}

func (s *Sink) writeConfiguration(p *stream.Process, interval int64) {
	s.out.Key("configuration")
	s.out.BeginObject()
	s.out.Key("features")
	s.out.BeginArray()
	if p.CPU != "" {
		s.out.String(p.CPU)
	}
	s.out.EndArray()
	s.out.Key("threads")
	s.out.Raw("[]")
	s.out.Key("interval")
	s.out.Fixed(interval, 6)
	s.number("capacity", 0) // not known here
	s.out.EndObject()
}

// writeAbout writes what the format has no place for, under a key that the
// viewer passes over.
func (s *Sink) writeAbout(p *stream.Process) {
	s.out.Key("gprof")
	s.out.BeginObject()
	s.member("instance", hex(p.Instance))
	if p.Parent != 0 {
		s.member("parent", hex(s.tables.Process(p.Parent).Instance))
	}
	s.number("pid", int64(p.Pid))
	for _, m := range []struct{ key, value string }{
		{"name", p.Name}, {"service", p.Service}, {"version", p.Version}, {"revision", p.Revision},
		{"host", p.Host}, {"exe", p.Exe}, {"go", p.Go}, {"cpu", p.CPU},
	} {
		if m.value != "" {
			s.member(m.key, m.value)
		}
	}
	s.writeArgs(p)
	if p.Exit.Known {
		s.writeExit(&p.Exit)
	}
	s.number("rangeStart", int64(p.RangeStart))
	s.out.EndObject()
}

func (s *Sink) writeArgs(p *stream.Process) {
	s.out.Key("args")
	s.out.BeginArray()
	for _, arg := range p.Args {
		s.out.String(arg)
	}
	s.out.EndArray()
	s.out.Key("attrs")
	s.out.BeginArray() // not an object: a key may come twice
	for _, a := range p.Attrs {
		s.out.BeginArray()
		s.out.String(a.Key)
		s.out.String(a.Value)
		s.out.EndArray()
	}
	s.out.EndArray()
}

func (s *Sink) writeExit(e *stream.Exit) {
	s.out.Key("exit")
	s.out.BeginObject()
	s.member("reason", e.Reason)
	s.number("code", e.Code)
	s.member("text", e.Text)
	s.out.EndObject()
}

// number writes a member of an object that is an integer.
func (s *Sink) number(key string, value int64) {
	s.out.Key(key)
	s.out.Int(value)
}

// hex is how an instance is written everywhere.
func hex(instance uint64) string { return fmt.Sprintf("%016x", instance) }
