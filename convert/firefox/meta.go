package firefox

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"gprof/convert/internal/viewer"
	"gprof/stream"
	"gprof/stream/wording"
)

// writeMeta writes what holds for the whole profile, by the first process. It comes last, when the
// busiest threads are known.
func (s *Sink) writeMeta() {
	p := viewer.Process(s.tables, 1)
	s.out.BeginObject()
	s.out.Number("preprocessedProfileVersion", version)
	s.out.Number("version", geckoVersion)
	s.writeTimes()
	s.out.Number("processType", 0)
	s.out.Number("stackwalk", 1)
	for _, flag := range []struct {
		key string
		on  bool
	}{
		{"debug", viewer.SlowBuild(p)}, {"symbolicated", true}, {"symbolicationNotSupported", true},
		{"usesOnlyOneStackType", true}, {"sourceCodeIsNotOnSearchfox", true},
	} {
		s.out.Flag(flag.key, flag.on)
	}
	s.out.Value("sampleUnits", viewer.SampleUnits)
	viewer.WriteProgram(s.out.Writer, p)
	s.out.Member("arguments", strings.Join(p.Args, " "))
	s.out.Key("configuration")
	viewer.WriteConfiguration(s.out.Writer, p, viewer.Interval(s.tables))
	s.out.Key("categories")
	s.categories.Write(s.out.Writer)
	s.writeSchemas()
	s.writeVisible()
	s.writeExtra()
	s.out.EndObject()
}

func (s *Sink) writeTimes() {
	start, end := viewer.Range(s.tables)
	s.out.Number("startTime", int64(s.start)/int64(time.Millisecond))
	s.out.Decimal("interval", viewer.Interval(s.tables), 6)
	viewer.WriteClock(s.out.Writer, viewer.Process(s.tables, 1), s.start)
	s.moment("profilingStartTime", start, true)
	s.moment("profilingEndTime", end, true)
}

func (s *Sink) writeSchemas() {
	s.out.Key("markerSchema")
	viewer.WriteSchemas(s.out.Writer, s.types, viewer.Processed)
}

func (s *Sink) writeVisible() {
	shown, busiest := visible(s.threads)
	s.out.Array("initialVisibleThreads")
	for _, thread := range shown {
		s.out.Int(int64(thread))
	}
	s.out.EndArray()
	s.out.Array("initialSelectedThreads")
	s.out.Int(int64(busiest))
	s.out.EndArray()
}

// writeExtra writes the viewer's additional information: what each process was and what was lost.
func (s *Sink) writeExtra() {
	lines := s.lost.Lines()
	s.out.Array("extra")
	for id := 1; id < len(lines); id++ {
		p := viewer.Process(s.tables, stream.ProcessID(id))
		s.out.BeginObject()
		s.out.Member("label", p.Title())
		s.out.Array("entries")
		s.writeAboutEntries(p)
		for _, line := range lines[id] {
			s.writeEntry(wording.Reason(line.Reason), wording.Line(line))
		}
		s.out.EndArray()
		s.out.EndObject()
	}
	s.out.EndArray()
}

func (s *Sink) writeAboutEntries(p *stream.Process) {
	for _, e := range []struct{ label, value string }{
		{"Instance", p.InstanceName()}, {"Revision", p.Revision}, {"Program", p.Exe},
		{"Arguments", strings.Join(p.Args, " ")}, {"Go", p.Go}, {"Ended", wording.ShortEnd(p.Exit)},
	} {
		if e.value != "" {
			s.writeEntry(e.label, e.value)
		}
	}
	for _, a := range p.Attrs {
		s.writeEntry(a.Key, a.Value)
	}
}

func (s *Sink) writeEntry(label, value string) {
	s.out.BeginObject()
	s.out.Member("label", label)
	s.out.Member("format", "string")
	s.out.Member("value", value)
	s.out.EndObject()
}

// Site is where Firefox Profiler is.
const Site = "https://profiler.firefox.com"

// urlVersion is the version of URLs; the viewer upgrades older ones.
const urlVersion = 10

// URL is the address at which the viewer shows an output of t that it fetches from the address
// profile, with the time from from to to selected, unless that is all of it. It asks symbolServer
// for sources and assembly; "" is none.
func URL(profile, symbolServer string, t *stream.Tables, from, to stream.Time) string {
	at := Site + "/from-url/" + escape(profile) + "/"
	var query []string
	if symbolServer != "" {
		query = append(query, "symbolServer="+escape(symbolServer))
	}
	start, end := viewer.Range(t)
	from, to = max(from, start), min(to, end)
	if from < to && (from != start || to+1 < end) {
		// The viewer rounds ranges outwards, too.
		const us = 1000
		begin := int64(from-start) / us
		length := (int64(to-start)+us-1)/us - begin
		query = append(query, fmt.Sprintf("range=%du%d", begin, length))
	}
	if query == nil {
		return at
	}
	return at + "?" + strings.Join(query, "&") + fmt.Sprintf("&v=%d", urlVersion)
}

func escape(address string) string {
	return strings.ReplaceAll(url.QueryEscape(address), "+", "%20")
}
