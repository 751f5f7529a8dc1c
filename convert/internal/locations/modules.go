package locations

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"gprof/stream"
)

// Modules are the mappings of the output. Those that came with a profile go out as
// they were. Otherwise there are offsets in files and no addresses: a module gets a
// range of addresses that no other has, and its file lies there from its beginning.
// So tools that open the file find the code of an address.
//
// pprof looks functions up by itself in a mapping that says it has none, and replaces
// all names in it, by worse ones that know nothing of inlining. A mapping therefore
// says that it has functions if any code in it has a name. Code without a name that
// lies in the same module is in a second mapping, for pprof to name.
type Modules struct {
	tables  *stream.Tables
	sum     bool
	Program stream.ModuleID // the first one
	List    []Mapping       // by number-1
	of      [][]int         // mappings by ModuleID, as indexes in List, imported ones first
}

// Mapping is one of the output.
type Mapping struct {
	Module               stream.ModuleID
	Start, Limit, Offset uint64
	Path                 string
	Came                 bool                // with a profile,
	names                stream.MappingNames // which said so of it
	nameless             bool                // it is for code without a name
	found                mappingUse
}

// mappingUse is what the locations of a mapping have.
type mappingUse struct{ used, nameless, fileless, lineless, inlined bool }

const (
	// FirstAddress is where non-PIE Linux programs mostly are, so the first module's addresses are
	// mostly its real ones.
	FirstAddress = 0x400000
	lastAddress  = 1 << 62
	// spacing separates modules: neighbours might be taken for one.
	spacing  = 1 << 20
	pageSize = 4096
	// maxModule bounds the size of a module; an offset above it is damage.
	maxModule = 1 << 40
	// maxParts bounds the mappings of a module.
	maxParts = 64
)

// Build lays out the mappings of t. In a sum, whose inputs have no order, their order says nothing.
func (m *Modules) Build(t *stream.Tables, sum bool) {
	*m = Modules{tables: t, sum: sum, of: make([][]int, t.Modules.Len()+1)}
	paths := make([]string, len(m.of))
	came := make([][]stream.Mapping, len(m.of))
	for _, known := range t.Mappings() {
		if at := &paths[known.Module]; *at == "" || known.Path != "" && known.Path < *at {
			*at = known.Path // the same of sums in any order
		}
		if known.Start < known.Limit {
			came[known.Module] = append(came[known.Module], known)
		}
	}
	order := m.inOrder()
	if len(order) > 0 {
		m.Program = order[0]
	}
	for _, id := range byAddress(order, came) {
		for _, c := range came[id] {
			if len(m.of[id]) < maxParts && !m.overlaps(c.Start, c.Limit) {
				m.add(Mapping{Module: id, Start: c.Start, Limit: c.Limit, Offset: c.Offset, Path: c.Path, Came: true, names: c.Names})
			}
		}
	}
	m.layOut(order, paths)
	m.sort()
}

// sort puts all mappings but the first in the order of their addresses, so that they come back in that order when the profile is
// read again, in which all of them came with it.
func (m *Modules) sort() {
	order := make([]int, len(m.List))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order[min(1, len(order)):], func(a, b int) int { return cmp.Compare(m.List[a].Start, m.List[b].Start) })
	list, place := make([]Mapping, len(order)), make([]int, len(order))
	for to, from := range order {
		list[to], place[from] = m.List[from], to
	}
	m.List = list
	for _, of := range m.of {
		for i := range of {
			of[i] = place[of[i]]
		}
	}
}

// byAddress sorts modules by address, except the first, as profiles have them.
func byAddress(order []stream.ModuleID, came [][]stream.Mapping) []stream.ModuleID {
	sorted := slices.Clone(order)
	slices.SortStableFunc(sorted[min(1, len(sorted)):], func(a, b stream.ModuleID) int {
		if len(came[a]) == 0 || len(came[b]) == 0 {
			return cmp.Compare(len(came[b]), len(came[a]))
		}
		return cmp.Compare(came[a][0].Start, came[b][0].Start)
	})
	return sorted
}

func (m *Modules) add(new Mapping) {
	m.of[new.Module] = append(m.of[new.Module], len(m.List))
	m.List = append(m.List, new)
}

// overlaps reports whether a mapping overlaps a range.
func (m *Modules) overlaps(start, limit uint64) bool {
	return slices.ContainsFunc(m.List, func(at Mapping) bool { return start < at.Limit && at.Start < limit })
}

// layOut gives addresses to what has none.
func (m *Modules) layOut(order []stream.ModuleID, paths []string) {
	named, nameless := m.sizes()
	came, next := len(m.List), uint64(FirstAddress)
	lay := func(id stream.ModuleID, size uint64, second bool) {
		if size == 0 {
			return
		}
		size = (size + pageSize - 1) / pageSize * pageSize
		for i := 0; i < came; i++ { // the others lie before
			if at := &m.List[i]; next < at.Limit && at.Start < next+size {
				next, i = (at.Limit+2*spacing-1)/spacing*spacing, -1
			}
		}
		if next+size > lastAddress {
			return
		}
		m.add(Mapping{Module: id, Start: next, Limit: next + size, Path: paths[id], nameless: second})
		next = (next + size + 2*spacing - 1) / spacing * spacing
	}
	for _, id := range order {
		lay(id, max(named[id], nameless[id]), false)
	}
	for _, id := range order {
		if named[id] != 0 && nameless[id] != 0 {
			// A page larger: tools that merge profiles take mappings of one file and
			// one size for the same.
			lay(id, max(named[id], nameless[id])+pageSize, true)
		}
	}
}

// sizes returns, by module, the extent of named and of nameless code outside mappings. A module
// without code has a byte.
func (m *Modules) sizes() (named, nameless []uint64) {
	named, nameless = make([]uint64, len(m.of)), make([]uint64, len(m.of))
	for id := stream.FrameID(1); int(id) <= m.tables.Frames.Len(); id++ {
		f := m.tables.Frames.At(id)
		if f.Label || f.Offset >= maxModule || m.find(f.Module, f.Offset, true) >= 0 {
			continue
		}
		if f.Function != 0 {
			named[f.Module] = max(named[f.Module], f.Offset+1)
		} else {
			nameless[f.Module] = max(nameless[f.Module], f.Offset+1)
		}
	}
	return named, nameless
}

// find returns the mapping of an offset in a module, below 0 for none.
func (m *Modules) find(module stream.ModuleID, offset uint64, hasName bool) int {
	for i := len(m.of[module]) - 1; i >= 0; i-- {
		at := &m.List[m.of[module][i]]
		if (!at.nameless || !hasName) && offset-at.Offset < at.Limit-at.Start {
			return m.of[module][i]
		}
	}
	return -1
}

// inOrder sorts the modules, a program first: tools take the first mapping for the program. It is
// that of the first process; in a sum, whose inputs have no order, the first of all.
func (m *Modules) inOrder() []stream.ModuleID {
	t := m.tables
	var order []stream.ModuleID
	for id := stream.ModuleID(1); int(id) <= t.Modules.Len(); id++ {
		order = append(order, id)
	}
	if len(t.Processes) == 0 {
		return order
	}
	candidates := t.Processes[:1]
	if m.sum {
		candidates = t.Processes
	}
	main := slices.IndexFunc(order, func(id stream.ModuleID) bool {
		return slices.ContainsFunc(candidates, func(p stream.Process) bool { return isProgram(t.Modules.At(id), p.Exe) })
	})
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

// Place returns mapping number and address of a location of frames, innermost first. The number is
// 0 for none.
func (m *Modules) Place(frames []stream.Frame) (number int, address uint64) {
	f := frames[0]
	if f.Label {
		return 0, 0
	}
	if i := m.find(f.Module, f.Offset, hasName(frames)); i >= 0 {
		return i + 1, m.List[i].Start + f.Offset - m.List[i].Offset
	}
	return 0, f.Offset
}

func hasName(frames []stream.Frame) bool {
	return slices.ContainsFunc(frames, func(f stream.Frame) bool { return f.Function != 0 })
}

// Note notes what a mapping's location has.
func (m *Modules) Note(number int, frames []stream.Frame) {
	if number == 0 {
		return
	}
	to := &m.List[number-1].found
	to.used = true
	to.inlined = to.inlined || len(frames) > 1
	to.nameless = to.nameless || !hasName(frames)
	for _, f := range frames {
		to.fileless = to.fileless || f.File == 0
		to.lineless = to.lineless || f.Line == 0
	}
}

// Has returns which names the mapping's locations have. A profile's own statement stays.
func (m *Mapping) Has() (names stream.MappingNames) {
	if m.found.nameless || !m.found.used || m.names&stream.NamesFunctions != 0 {
		return m.names
	}
	names = m.names | stream.NamesFunctions
	if !m.found.fileless {
		names |= stream.NamesFiles
	}
	if !m.found.lineless {
		names |= stream.NamesLines
	}
	if m.found.inlined {
		names |= stream.NamesInlined
	}
	return names
}

// Used reports whether the mapping has locations.
func (m *Mapping) Used() bool { return m.found.used }
