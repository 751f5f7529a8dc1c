package decode

import (
	"path"

	"gprof/rawformat"
	"gprof/rawformat/roots"
	"gprof/stream"
	"gprof/stream/gonames"
	"gprof/stream/jitnames"
)

// names is what the processes of a run share: modules, and the functions at their addresses. Frames
// of the same binary meet here by build id and offset, even if only one process had time to write
// its symbols. It is not for concurrent use.
type names struct {
	tables  *stream.Tables
	modules map[string]*code // by build id, or else by path
	chains  [][]stream.FrameID

	resolver Resolver       // nil: none
	own      stream.StackID // first stack added by the dictionary being linked; 0 none
	depth    []uint16       // reused memory of linkers
	search   search         // likewise
}

// code is the places of one file, or of one process outside known files.
type code struct {
	module  stream.ModuleID // 0: no known file
	made    string          // stands for its build where the process has made it, "" for other code
	places  places
	placed  []placement          // by place; none is 0
	defined map[int32][]function // by place, until placed; outermost first
	unnamed map[int32]placement  // by place, until a later process names it
}

// placement is what an address became: the frame, or, if negative, an index in chains: -1 is the
// first. 0 is nothing yet.
type placement int32

// function is a function of an address's inline chain.
type function struct {
	name, file string
	line       int32
	start      int32 // first line, 0 unknown
}

// module returns the code of a file. The first path seen names it.
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

// place is the number of an offset in the file.
func (c *code) place(offset uint64) int32 {
	i := c.places.intern(offset)
	for len(c.placed) <= int(i) {
		c.placed = append(c.placed, 0)
	}
	return i
}

// define adds a function to the chain at a place. The first definition of a depth counts; functions
// after a gap are dropped; and a placed chain does not change any more.
func (c *code) define(place, depth int32, f func() function) {
	chain := c.defined[place]
	if c.placed[place] != 0 || int(depth) != len(chain) {
		return
	}
	if c.defined == nil {
		c.defined = map[int32][]function{}
	}
	c.defined[place] = append(chain, f())
}

// nameless reports whether no function at a place is named yet.
func (c *code) nameless(place int32) bool { return c.placed[place] == 0 && len(c.defined[place]) == 0 }

// put gives an address its frames: for good, unless it has no name yet.
func (n *names) put(c *code, place int32, offset uint64) placement {
	if p := c.placed[place]; p != 0 {
		return p
	}
	defined := c.defined[place]
	if p := c.unnamed[place]; p != 0 && len(defined) == 0 {
		return p
	}
	frames := n.frames(c, offset, defined)
	if len(defined) == 0 && n.tables.Frames.At(frames[0]).Function == 0 {
		if c.unnamed == nil {
			c.unnamed = map[int32]placement{}
		}
		c.unnamed[place] = placement(frames[0])
		return placement(frames[0])
	}
	p := placement(frames[0])
	if len(frames) > 1 {
		n.chains = append(n.chains, frames)
		p = placement(-len(n.chains))
	}
	c.placed[place] = p
	delete(c.defined, place) // the tables hold it now
	return p
}

// frames interns the frames at a place, outermost first.
func (n *names) frames(c *code, offset uint64, chain []function) (frames []stream.FrameID) {
	module := c.module
	if module == 0 && offset == rawformat.TruncatedPC {
		return []stream.FrameID{n.label(roots.Truncated, 0)}
	}
	if len(chain) == 0 || chain[0].name == "" {
		chain = n.resolve(c, offset)
	}
	for depth, f := range chain {
		if f.name == "" {
			break
		}
		category := n.category(n.categoryOf(c, f.name))
		if c.made != "" {
			f = split(f)
		}
		frames = append(frames, n.tables.Frames.Intern(stream.Frame{
			Module: module, Offset: offset, Depth: int32(depth), Line: f.line, Start: f.start,
			Function: n.tables.Strings.Intern(f.name), File: n.tables.Strings.Intern(f.file),
			Category: category,
		}))
	}
	if frames == nil {
		frames = []stream.FrameID{n.tables.Frames.Intern(stream.Frame{Module: module, Offset: offset, Category: n.category(n.categoryOf(c, ""))})}
	}
	return frames
}

// split splits the name of a function that the process has made from the place that it may end with.
func split(f function) function {
	name, file, line := jitnames.Split(f.name)
	if f.name = name; file != "" { // V8's tables of lines have files of random bytes
		f.file, f.line = file, line
	}
	return f
}

// kernelName is the path of the kernel's module; kernelCategory is that of its code, as for perf.
const kernelName = "[kernel.kallsyms]"

var kernelCategory = stream.Category{Name: "Kernel", Color: "orange"}

// categoryOf is the category of a function, "" unknown, in a module.
func (n *names) categoryOf(c *code, function string) stream.Category {
	module := c.module
	switch {
	case c.made != "":
		return jitnames.Category(function)
	case module != 0 && n.tables.Modules.At(module).Path == kernelName:
		return kernelCategory
	case function == "":
		return gonames.Native
	}
	return gonames.Category(function)
}

// push returns the stack of parent and the functions at an address.
func (n *names) push(parent stream.StackID, p placement) stream.StackID {
	if p > 0 {
		return n.addStack(parent, stream.FrameID(p))
	}
	for _, id := range n.chains[-p-1] {
		parent = n.addStack(parent, id)
	}
	return parent
}

// addStack interns a stack. A child of one added by the same dictionary is appended unchecked, in
// half the time: should a dictionary define one twice, as it may with inlined functions, Copy
// merges them.
func (n *names) addStack(parent stream.StackID, frame stream.FrameID) stream.StackID {
	if n.adds(parent) {
		return n.tables.Stacks.Append(parent, frame)
	}
	return n.tables.Stacks.Intern(parent, frame)
}

// adds reports whether the dictionary being linked has added a stack.
func (n *names) adds(stack stream.StackID) bool { return n.own != 0 && stack >= n.own }

// wrapper reports whether there is only a wrapper at an address.
func (n *names) wrapper(p placement) bool {
	if p <= 0 {
		return false
	}
	f := n.tables.Frames.At(stream.FrameID(p))
	return gonames.Wrapper(n.tables.Strings.At(f.Function), n.tables.Strings.At(f.File))
}

// label returns the frame of a label.
func (n *names) label(name string, c stream.CategoryID) stream.FrameID {
	return n.tables.Frames.Intern(stream.Frame{Label: true, Function: n.tables.Strings.Intern(name), Category: c})
}

func (n *names) category(c stream.Category) stream.CategoryID { return n.tables.Categories.Intern(c) }

// Resolver names the functions at an offset in a module that no recording names. It calls add for
// each function of the inline chain, the outermost first, or not at all. It is not called
// concurrently.
type Resolver func(build string, offset uint64, add func(function, file string, line, start int32))

// resolve asks for the names at a place in a known file, or in what the process has made.
func (n *names) resolve(c *code, offset uint64) (chain []function) {
	build := c.made
	if c.module != 0 {
		build = n.tables.Modules.At(c.module).Build
	}
	if n.resolver == nil || build == "" {
		return nil
	}
	n.resolver(build, offset, func(name, file string, line, start int32) {
		chain = append(chain, function{name, file, line, start})
	})
	return chain
}
