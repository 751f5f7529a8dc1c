package gecko

import (
	"cmp"
	"slices"
	"strings"

	"gprof/stream"
)

// module is a library of a profile.
type module struct {
	id         stream.ModuleID
	name       string
	start, end uint64 // addresses, in a Gecko profile
	offset     uint64 // in the file, of start
}

// modules are the libraries that frames of a thread may lie in.
type modules struct {
	list   []module // as in the file
	sorted []module // by address
	named  map[string]stream.ModuleID
}

// modules reads the libraries of a thread, or of a process.
func (r *reader) modules(owner part) *modules {
	m := &modules{named: map[string]stream.ModuleID{}}
	r.note(owner.objects("libs", func(o object) {
		if r.full() {
			return
		}
		lib := module{name: o.text("name")}
		lib.id = r.t.Modules.Intern(moduleOf(o, r.arch))
		lib.start, lib.end, lib.offset = o.address("start"), o.address("end"), o.address("offset")
		if lib.end < lib.start {
			o.note(stream.ReasonImpossible, "end")
		}
		m.list = append(m.list, lib)
		r.holdCode(moduleBytes)
		if m.named[lib.name] == 0 {
			m.named[lib.name] = lib.id
		}
	}))
	m.sorted = slices.Clone(m.list)
	slices.SortStableFunc(m.sorted, func(a, b module) int { return cmp.Compare(a.start, b.start) })
	return m
}

// moduleOf is what tells a library from others. Its build id is what the viewer
// knows as codeId; where that is missing, the id by which symbols are found. What
// follows from that is not kept beside it, so that a library is one module,
// whoever tells of it.
func moduleOf(o object, arch string) stream.Module {
	setOldSymbols(o)
	name, path := o.text("name"), o.text("path")
	if path == "" && strings.ContainsAny(name, `/\`) { // as older versions have it
		path, name = name, name[strings.LastIndexAny(name, `/\`)+1:]
	}
	out := stream.Module{Build: cmp.Or(o.text("codeId"), o.text("breakpadId")), Name: name}
	if strings.Trim(out.Build, "0") == "" { // which stands for none
		out.Build = ""
	}
	if path != name {
		out.Path = path
	}
	if debug := o.text("debugPath"); debug != path {
		out.DebugPath = debug
	}
	if debug := o.text("debugName"); debug != name {
		out.DebugName = debug
	}
	if id := o.text("breakpadId"); id != "" && id != out.BreakpadID() {
		out.Breakpad = id
	}
	if own := o.text("arch"); own != arch {
		out.Arch = own
	}
	return out
}

// find is the library at an address, and the offset in its file.
func (m *modules) find(address uint64) (id stream.ModuleID, offset uint64) {
	i, _ := slices.BinarySearchFunc(m.sorted, address, func(lib module, address uint64) int {
		if lib.start <= address {
			return -1
		}
		return 1
	})
	if i == 0 || address >= m.sorted[i-1].end {
		return 0, address
	}
	lib := m.sorted[i-1]
	return lib.id, address - lib.start + lib.offset
}

// byName is the library of a name; one that is not in the list has no more than
// that.
func (r *reader) byName(m *modules, name string) stream.ModuleID {
	id, ok := m.named[name]
	if !ok {
		id = r.t.Modules.Intern(stream.Module{Name: name})
		m.named[name] = id
	}
	return id
}
