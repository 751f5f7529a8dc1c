package gecko

import (
	"strings"

	"gprof/stream"
)

// writeLibs writes the modules of which the process has frames, in the order of
// their addresses, which is that of their ids.
func (s *Sink) writeLibs() {
	s.out.Key("libs")
	s.out.BeginArray()
	for id := 1; id < len(s.code.used); id++ {
		if s.code.used[id] && s.code.ranges[id].end != 0 {
			s.writeLib(s.tables.Modules.At(stream.ModuleID(id)), s.code.ranges[id])
		}
	}
	s.out.EndArray()
}

func (s *Sink) writeLib(m stream.Module, r addresses) {
	path := m.Path
	if path == "" {
		path = m.Name
	}
	s.out.BeginObject()
	s.number("start", int64(r.start))
	s.number("end", int64(r.end))
	s.number("offset", 0)
	s.member("name", m.Name)
	s.member("path", path)
	s.member("debugName", m.Name)
	s.member("debugPath", path)
	s.member("breakpadId", breakpadID(m.Build))
	s.member("codeId", m.Build)
	s.member("arch", s.of(s.process).Arch)
	s.out.EndObject()
}

// breakpadID makes an id as symbol servers want it: 32 digits and an age.
func breakpadID(build string) string {
	const digits = 32
	id := strings.ToUpper(build)
	if len(id) < digits {
		id += strings.Repeat("0", digits-len(id))
	}
	return id[:digits] + "0"
}
