package firefox

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/spill"
)

// section is text that comes up while threads are written, and stands behind
// them.
type section struct {
	*jsontext.Writer
	roll *spill.Buffer
}

func newSection(f *spill.File) *section {
	roll := f.NewBuffer()
	return &section{jsontext.NewWriter(roll), roll}
}

// writeSection writes a member that is a section, between two brackets.
func (s *Sink) writeSection(key, begin string, x *section, end string) {
	x.Flush() // the file keeps the error
	s.out.Key(key)
	s.out.Raw(begin)
	s.out.Flush()
	x.roll.Drain(func(text []byte) { s.out.Write(text) })
	s.out.Write([]byte(end))
}

// writeSections writes all of them.
func (s *Sink) writeSections() {
	s.writeSection("counters", "[", s.counted, "]")
	s.writeSection("profilerOverhead", "[", s.costs, "]")
	s.writeSection("pages", "[", s.visited, "]")
	s.writeSection("profilingLog", "{", s.logged, "}")
	s.writeSection("gprof", `{"processes":[`, s.about, "]}")
}
