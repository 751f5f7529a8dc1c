package decode

import (
	"path"

	"gprof/stream"
)

// names is what the processes of one run share: modules, and the functions at
// their addresses. The same binary's frames meet here by build id and offset,
// also when only one of the processes had time to write its symbols. It is for
// one goroutine at a time.
type names struct {
	tables  *stream.Tables
	modules map[string]*code // by build id, or by path where there is none

	resolver Resolver // nil: none
}

// code is the places of one file, or of one process in no known file.
type code struct {
	module stream.ModuleID // 0: of no known file
	places map[uint64]*place
}

// place is one address, as an offset in the file.
type place struct {
	module stream.ModuleID
	offset uint64
	chain  []function       // outermost first
	frames []stream.FrameID // of chain, once they are used
}

// function is one function of an address' inline chain.
type function struct {
	name, file string
	line       int32
}

// module returns the code of a mapped file. The first path seen names it.
func (n *names) module(build, file string) *code {
	key := "path " + file
	if build != "" {
		key = "build " + build
	}
	c := n.modules[key]
	if c == nil {
		c = &code{module: n.tables.Modules.Intern(stream.Module{Build: build, Path: file, Name: path.Base(file)})}
		n.modules[key] = c
	}
	return c
}

func (n *names) place(c *code, offset uint64) *place {
	p := c.places[offset]
	if p == nil {
		if c.places == nil {
			c.places = map[uint64]*place{}
		}
		p = &place{module: c.module, offset: offset}
		c.places[offset] = p
	}
	return p
}

// nameless reports whether nobody named a function here until now. What was used
// does not become nameless.
func (p *place) nameless() bool { return p.frames == nil && len(p.chain) == 0 }

// wants reports whether the function at that depth is the next one of the
// chain. The first definition of a depth wins; what stands behind a hole is left
// out; and what was used does not change any more.
func (p *place) wants(depth int32) bool { return p.frames == nil && int(depth) == len(p.chain) }

// frames returns the frames at a place, outermost function first.
func (n *names) frames(p *place) []stream.FrameID {
	if p.frames != nil {
		return p.frames
	}
	if len(p.chain) == 0 || p.chain[0].name == "" {
		n.resolve(p)
	}
	for depth, f := range p.chain {
		if f.name == "" {
			break
		}
		p.frames = append(p.frames, n.tables.Frames.Intern(stream.Frame{
			Module: p.module, Offset: p.offset, Depth: int32(depth), Line: f.line,
			Function: n.tables.Strings.Intern(f.name), File: n.tables.Strings.Intern(f.file),
			Category: n.category(functionCategory(f.name)),
		}))
	}
	if p.frames == nil {
		p.frames = []stream.FrameID{n.tables.Frames.Intern(stream.Frame{Module: p.module, Offset: p.offset, Category: n.category(native)})}
	}
	p.chain = nil // the tables hold it now
	return p.frames
}

// label returns the frame of a name that the program pushed itself.
func (n *names) label(name string, c stream.CategoryID) stream.FrameID {
	return n.tables.Frames.Intern(stream.Frame{Label: true, Function: n.tables.Strings.Intern(name), Category: c})
}

func (n *names) category(c stream.Category) stream.CategoryID { return n.tables.Categories.Intern(c) }
