package pprof

import (
	"path"
	"slices"
	"strings"

	"gprof/stream"
)

// modules are the mappings of the output, whose ids are those of the modules. A
// recording has offsets in files and no addresses: each module gets a range of
// addresses that no other has, and its file lies there from its beginning. So
// tools that open the file find the code of an address.
type modules struct {
	ranges []addresses // by ModuleID
	found  []found     // by ModuleID
	order  []stream.ModuleID
}

// addresses is where a module lies; limit is 0 if it has no place.
type addresses struct{ start, limit uint64 }

// found is what the locations of a module have. Tools name the functions of a
// module themselves when it says that it has none.
type found struct{ used, nameless, fileless, lineless, inlined bool }

const (
	// firstAddress is where programs for Linux that have a fixed address mostly
	// lie. So the addresses of the first module are mostly its real ones.
	firstAddress = 0x400000
	lastAddress  = 1 << 62
	// spacing keeps modules apart: neighbours might be taken for one.
	spacing  = 1 << 20
	pageSize = 4096
	// maxModule bounds the size of a module; an offset above it is damage.
	maxModule = 1 << 40
)

func (m *modules) build(t *stream.Tables) {
	n := t.Modules.Len() + 1
	m.ranges, m.found, m.order = make([]addresses, n), make([]found, n), inOrder(t)
	size := make([]uint64, n)
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		if f := t.Frames.At(id); f.Offset < maxModule {
			size[f.Module] = max(size[f.Module], f.Offset+1)
		}
	}
	next := uint64(firstAddress)
	for _, id := range m.order {
		limit := next + (max(size[id], 1)+pageSize-1)/pageSize*pageSize
		if limit > lastAddress {
			break
		}
		m.ranges[id] = addresses{next, limit}
		next = (limit + 2*spacing - 1) / spacing * spacing
	}
}

// inOrder lists the modules, that of the first process' program first: tools
// take the first mapping for the program.
func inOrder(t *stream.Tables) []stream.ModuleID {
	var order []stream.ModuleID
	for id := stream.ModuleID(1); int(id) <= t.Modules.Len(); id++ {
		order = append(order, id)
	}
	if len(t.Processes) == 0 {
		return order
	}
	exe := t.Processes[0].Exe
	main := slices.IndexFunc(order, func(id stream.ModuleID) bool { return isProgram(t.Modules.At(id), exe) })
	if main > 0 {
		id := order[main]
		copy(order[1:], order[:main])
		order[0] = id
	}
	return order
}

func isProgram(m stream.Module, exe string) bool {
	base := path.Base(strings.ReplaceAll(exe, `\`, "/"))
	return exe != "" && (m.Path == exe || m.Name == base)
}

// place returns the mapping and the address of a frame; the mapping is 0 if it
// lies in none.
func (m *modules) place(f stream.Frame) (mapping, address uint64) {
	if f.Label {
		return 0, 0
	}
	if r := m.ranges[f.Module]; f.Offset < r.limit-r.start {
		return uint64(f.Module), r.start + f.Offset
	}
	return 0, f.Offset
}

// note notes what a location of a mapping, which may be 0, has.
func (m *modules) note(mapping uint64, frames []stream.Frame) {
	to := &m.found[mapping]
	to.used = true
	to.inlined = to.inlined || len(frames) > 1
	for _, f := range frames {
		to.nameless = to.nameless || f.Function == 0
		to.fileless = to.fileless || f.File == 0
		to.lineless = to.lineless || f.Line == 0
	}
}
