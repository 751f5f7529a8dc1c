package locations

import (
	"testing"

	"gprof/stream"
)

// Mappings that came and those that are given addresses are in the order of these, the program's first, and
// locations lie in the ones of their modules.
func TestMappingOrder(t *testing.T) {
	var tables stream.Tables
	var frames []stream.Frame
	for _, name := range []string{"kernel", "loader", "program"} {
		frames = append(frames, stream.Frame{Module: tables.Modules.Intern(stream.Module{Name: name}), Offset: 0x1000})
		tables.Frames.Intern(frames[len(frames)-1])
	}
	tables.Processes = append(tables.Processes, stream.Process{Exe: "/bin/program"})
	tables.AddMapping(stream.Mapping{Module: frames[1].Module, Start: 0x7f0000000000, Limit: 0x7f0000010000})
	tables.AddMapping(stream.Mapping{Module: frames[2].Module, Start: 0x550000000000, Limit: 0x550000010000})
	var m Modules
	m.Build(&tables, false)
	for i, want := range []struct {
		number  int
		address uint64
	}{{2, FirstAddress + 0x1000}, {3, 0x7f0000001000}, {1, 0x550000001000}} {
		if number, address := m.Place(frames[i : i+1]); number != want.number || address != want.address || m.List[number-1].Module != frames[i].Module {
			t.Errorf("module %d: mapping %d, address %x, want %d, %x", i, number, address, want.number, want.address)
		}
	}
}
