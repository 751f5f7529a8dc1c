package gecko

import (
	"cmp"
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
	path := cmp.Or(m.Path, m.Name)
	s.out.BeginObject()
	s.out.Number("start", int64(r.start))
	s.out.Number("end", int64(r.end))
	s.out.Number("offset", 0)
	s.out.Member("name", m.Name)
	s.out.Member("path", path)
	s.out.Member("debugName", cmp.Or(m.DebugName, m.Name))
	s.out.Member("debugPath", cmp.Or(m.DebugPath, path))
	s.out.Member("breakpadId", m.BreakpadID())
	s.out.Member("codeId", m.CodeID())
	s.out.Member("arch", cmp.Or(m.Arch, s.of(s.walk.Process).Machine()))
	s.out.EndObject()
}
