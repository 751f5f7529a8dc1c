package pprof

import (
	"path"
	"slices"
	"strings"

	"gprof/stream"
)

// modules are the mappings of the output. A recording has offsets in files and no
// addresses: each mapping gets a range of addresses that no other has, and its file
// lies there from its beginning. So tools that open the file find the code of an
// address.
//
// pprof looks functions up by itself in a mapping that says it has none, and replaces
// all names in it, by worse ones that know nothing of inlining. A mapping therefore
// says that it has functions if any code in it has a name. Code without a name that
// lies in the same module is in a second mapping, for pprof to name.
type modules struct {
	names  int         // numbers of mappings up to it are ids of modules; above are those of code without a name, by the same ids
	ranges []addresses // by number of the mapping
	found  []found     // likewise
	order  []int       // of the mappings
}

// addresses is where a mapping lies; limit is 0 if it has no place.
type addresses struct{ start, limit uint64 }

// found is what the locations of a mapping have.
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
	n := t.Modules.Len()
	*m = modules{names: n, ranges: make([]addresses, 2*n+1), found: make([]found, 2*n+1)}
	sizes := m.sizes(t)
	order := inOrder(t)
	for _, id := range order {
		m.order = append(m.order, int(id))
	}
	for _, id := range order {
		m.order = append(m.order, n+int(id))
	}
	next := uint64(firstAddress)
	for _, number := range m.order {
		size := sizes[number]
		if size == 0 {
			continue
		}
		limit := next + (size+pageSize-1)/pageSize*pageSize
		if limit > lastAddress {
			break
		}
		m.ranges[number] = addresses{next, limit}
		next = (limit + 2*spacing - 1) / spacing * spacing
	}
}

// sizes returns how many bytes each mapping covers, 0 for a second one that is not
// needed. A second one is a page larger: tools that merge profiles take mappings of
// one file and one size for the same.
func (m *modules) sizes(t *stream.Tables) []uint64 {
	sizes, named, nameless := make([]uint64, len(m.ranges)), make([]bool, m.names+1), make([]bool, m.names+1)
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		if f.Offset < maxModule {
			sizes[f.Module] = max(sizes[f.Module], f.Offset+1)
		}
		if !f.Label {
			named[f.Module] = named[f.Module] || f.Function != 0
			nameless[f.Module] = nameless[f.Module] || f.Function == 0
		}
	}
	for id := 1; id <= m.names; id++ {
		sizes[id] = max(sizes[id], 1)
		if named[id] && nameless[id] {
			sizes[m.names+id] = sizes[id] + pageSize
		}
	}
	return sizes
}

// moduleOf is the module of a mapping.
func (m *modules) moduleOf(number int) stream.ModuleID {
	if number > m.names {
		number -= m.names
	}
	return stream.ModuleID(number)
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

// place returns the mapping and the address of a location of some frames, the
// innermost first; the mapping is 0 if it lies in none.
func (m *modules) place(frames []stream.Frame) (mapping int, address uint64) {
	f := frames[0]
	if f.Label {
		return 0, 0
	}
	mapping = int(f.Module)
	if second := m.names + mapping; mapping != 0 && m.ranges[second].limit != 0 && !hasName(frames) {
		mapping = second
	}
	if r := m.ranges[mapping]; f.Offset < r.limit-r.start {
		return mapping, r.start + f.Offset
	}
	return 0, f.Offset
}

func hasName(frames []stream.Frame) bool {
	return slices.ContainsFunc(frames, func(f stream.Frame) bool { return f.Function != 0 })
}

// note notes what a location of a mapping, which may be 0, has.
func (m *modules) note(mapping int, frames []stream.Frame) {
	to := &m.found[mapping]
	to.used = true
	to.inlined = to.inlined || len(frames) > 1
	to.nameless = to.nameless || !hasName(frames)
	for _, f := range frames {
		to.fileless = to.fileless || f.File == 0
		to.lineless = to.lineless || f.Line == 0
	}
}
