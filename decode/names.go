package decode

import (
	"path"

	"gprof/stream"
)

// Names is what the processes of one run share: modules, and the functions at
// their addresses. The same binary's frames meet here by build id and offset,
// also when only one of the processes had time to write its symbols.
type Names struct {
	tables  *stream.Tables
	modules map[string]stream.ModuleID // by build id, or by path where there is none
	code    map[address][]symbol
	chains  map[address][]stream.FrameID

	resolver Resolver // nil: none
}

// address is a place in a file. A place in no known file is the process' own.
type address struct {
	module  stream.ModuleID
	process stream.ProcessID // if module is 0
	offset  uint64           // in the file
}

// symbol is one function of an address' inline chain, outermost first.
type symbol struct {
	function, file string
	line           int32
}

// NewNames returns an empty Names over t.
func NewNames(t *stream.Tables) *Names {
	return &Names{tables: t, modules: map[string]stream.ModuleID{}, code: map[address][]symbol{}, chains: map[address][]stream.FrameID{}}
}

// module interns a mapped file. The first path seen names it.
func (n *Names) module(build, file string) stream.ModuleID {
	key := "path " + file
	if build != "" {
		key = "build " + build
	}
	id, ok := n.modules[key]
	if !ok {
		id = n.tables.Modules.Intern(stream.Module{Build: build, Path: file, Name: path.Base(file)})
		n.modules[key] = id
	}
	return id
}

// define adds one function of the chain at an address, outermost first. The
// first definition of a depth wins; what stands behind a hole is left out.
func (n *Names) define(at address, depth int, s symbol) {
	if chain := n.code[at]; depth == len(chain) {
		n.code[at] = append(chain, s)
	}
}

// frames returns the frames at an address, outermost function first. All
// symbols must have been defined.
func (n *Names) frames(at address) []stream.FrameID {
	if ids, ok := n.chains[at]; ok {
		return ids
	}
	code := n.code[at]
	if len(code) == 0 || code[0].function == "" {
		code = n.resolve(at)
	}
	var ids []stream.FrameID
	for depth, s := range code {
		if s.function == "" {
			break
		}
		ids = append(ids, n.tables.Frames.Intern(stream.Frame{
			Module: at.module, Offset: at.offset, Depth: int32(depth), Line: s.line,
			Function: n.tables.Strings.Intern(s.function), File: n.tables.Strings.Intern(s.file),
			Category: n.category(functionCategory(s.function)),
		}))
	}
	if ids == nil {
		ids = []stream.FrameID{n.tables.Frames.Intern(stream.Frame{Module: at.module, Offset: at.offset, Category: n.category(native)})}
	}
	n.chains[at] = ids
	return ids
}

// label returns the frame of a name that the program pushed itself.
func (n *Names) label(name string, c stream.CategoryID) stream.FrameID {
	return n.tables.Frames.Intern(stream.Frame{Label: true, Function: n.tables.Strings.Intern(name), Category: c})
}

func (n *Names) category(c stream.Category) stream.CategoryID { return n.tables.Categories.Intern(c) }
