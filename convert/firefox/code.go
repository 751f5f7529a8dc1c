package firefox

import (
	"strconv"

	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// code is the functions of the run. Frames, stacks and modules are those of the
// tables.
type code struct {
	funcs   []function
	sources []int32 // names, in the list of strings
	origins []origin
	of      []int32 // function, by FrameID
	modules []int32 // names, by ModuleID
	far     int64   // frames whose address the format has no room for
}

// function is one function of one module; numbers are places in the lists of
// strings, of modules and behind them origins, and of sources, -1 for none.
type function struct {
	name, resource, source int32
	script, scripted       bool
	line, column           int32 // of a script: where it begins
}

// identity is what makes a function another one. The file does not: a compiler
// gives some of a function's code to the file that it was inlined from. Code
// without a name is known by its address, that of a script by where it begins.
type identity struct {
	module stream.ModuleID
	name   stream.StringID
	offset uint64
	label  bool

	scripted     bool
	script       bool
	file         stream.StringID
	line, column int32
}

func identityOf(f stream.Frame) identity {
	id := identity{module: f.Module, name: f.Function, label: f.Label, scripted: f.Scripted}
	switch {
	case f.Function == 0:
		id.offset = f.Offset
	case f.Script:
		id.script, id.file, id.line, id.column = true, f.File, f.Start, f.StartColumn
	}
	return id
}

func (c *code) build(t *stream.Tables, texts *viewer.Texts) {
	c.modules = make([]int32, t.Modules.Len()+1)
	for id := stream.ModuleID(1); int(id) <= t.Modules.Len(); id++ {
		c.modules[id] = texts.Intern(t.Modules.At(id).Name)
	}
	files := filesOf(t)
	sources, funcs := map[stream.StringID]int32{0: -1}, map[identity]int32{}
	origins := map[string]int32{"": -1}
	c.of = make([]int32, t.Frames.Len()+1)
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		if address(f) < 0 && f.Module != 0 && !f.Label {
			c.far++
		}
		key := identityOf(f)
		n, ok := funcs[key]
		if !ok {
			n = int32(len(c.funcs))
			funcs[key] = n
			resource := int32(f.Module) - 1
			if f.Script {
				resource = c.origin(texts, origins, t.Strings.At(key.file))
			}
			c.funcs = append(c.funcs, function{texts.Intern(nameOf(t, f)), resource, c.source(t, texts, sources, files[key].file), key.script, key.scripted, key.line, key.column})
		}
		c.of[id] = n
	}
}

// filed is how many frames of a function are of a file.
type filed struct {
	file   stream.StringID
	frames int
}

// filesOf gives each function the file that most of its frames are of, the first
// one of several.
func filesOf(t *stream.Tables) map[identity]filed {
	type place struct {
		identity
		file stream.StringID
	}
	counts, files := map[place]int{}, map[identity]filed{}
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		if key := identityOf(f); f.File != 0 {
			counts[place{key, f.File}]++
			if n := counts[place{key, f.File}]; n > files[key].frames {
				files[key] = filed{f.File, n}
			}
		}
	}
	return files
}

// source is the place of a file in the list.
func (c *code) source(t *stream.Tables, texts *viewer.Texts, known map[stream.StringID]int32, file stream.StringID) int32 {
	n, ok := known[file]
	if !ok {
		n = int32(len(c.sources))
		known[file] = n
		c.sources = append(c.sources, texts.Intern(t.Strings.At(file)))
	}
	return n
}

// nameOf is what a frame's function is called: an address if nothing else.
func nameOf(t *stream.Tables, f stream.Frame) string {
	if f.Function == 0 {
		return "0x" + strconv.FormatUint(f.Offset, 16)
	}
	if name := t.Strings.At(f.Function); name != "" {
		return name
	}
	return "(no name)"
}
