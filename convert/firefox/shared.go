package firefox

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"
	"unsafe"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// cell appends row i of a column.
type cell func(dst []byte, i int) []byte

// constant is a column that is the same in all rows.
func constant(text string) cell {
	return func(dst []byte, i int) []byte { return append(dst, text...) }
}

// numbers is a column of numbers; those below 0 are written as none.
func numbers(number func(i int) int64, none string) cell {
	return func(dst []byte, i int) []byte {
		if n := number(i); n >= 0 {
			return jsontext.AppendInt(dst, n)
		}
		return append(dst, none...)
	}
}

// tableColumn is a column of a table that is held in memory.
type tableColumn struct {
	key  string
	cell cell
}

// writeTable writes a member that is a table of n rows.
func (s *Sink) writeTable(key string, n int, columns ...tableColumn) {
	s.out.Object(key)
	s.out.Number("length", int64(n))
	for _, c := range columns {
		s.out.Array(c.key)
		for from := 0; from < n; from += viewer.MaxRows {
			to := min(n, from+viewer.MaxRows)
			s.out.List(to-from, pipeline.Text, func(dst []byte) []byte {
				for i := from; i < to; i++ {
					dst = append(c.cell(dst, i), ',')
				}
				return dst[:len(dst)-1]
			})
		}
		s.out.EndArray()
	}
	s.out.EndObject()
}

// writeShared writes what all threads refer to. Strings come last, when those of all markers are
// known.
func (s *Sink) writeShared() {
	s.out.Object("shared")
	s.writeStacks()
	s.writeFrames()
	s.writeFuncs()
	none := constant("null")
	s.writeNatives()
	s.writeTable("sourceLocationTable", 0, tableColumn{"source", none}, tableColumn{"line", none}, tableColumn{"column", none})
	s.out.Array("stringArray")
	s.out.Texts(s.texts.List())
	s.out.EndArray()
	s.out.EndObject()
}

// writeStacks writes each stack by its frame and the distance to its caller, 0 for none.
func (s *Sink) writeStacks() {
	at := func(i int) (parent stream.StackID, frame stream.FrameID) {
		return s.tables.Stacks.At(stream.StackID(i + 1))
	}
	s.writeTable("stackTable", s.tables.Stacks.Len(),
		tableColumn{"frame", numbers(func(i int) int64 {
			_, frame := at(i)
			return int64(frame) - 1
		}, "null")},
		tableColumn{"prefixOffset", numbers(func(i int) int64 {
			parent, _ := at(i)
			if parent == 0 {
				return 0
			}
			return int64(i+1) - int64(parent)
		}, "0")})
}

// writeFrames writes the frames: places in functions.
func (s *Sink) writeFrames() {
	at := func(i int) stream.Frame { return s.tables.Frames.At(stream.FrameID(i + 1)) }
	s.writeTable("frameTable", s.tables.Frames.Len(),
		tableColumn{"address", numbers(func(i int) int64 { return address(at(i)) }, "-1")},
		tableColumn{"lib", numbers(func(i int) int64 { return int64(at(i).Module) - 1 }, "-1")},
		tableColumn{"inlineDepth", numbers(func(i int) int64 { return int64(min(at(i).Depth, math.MaxUint8)) }, "0")},
		tableColumn{"category", numbers(func(i int) int64 { return int64(s.categories.Place(at(i).Category).Category) }, "0")},
		tableColumn{"subcategory", numbers(func(i int) int64 { return int64(s.categories.Place(at(i).Category).Sub) }, "0")},
		tableColumn{"func", numbers(func(i int) int64 { return int64(s.code.of[i+1]) }, "null")},
		tableColumn{"nativeSymbol", numbers(func(i int) int64 { return int64(s.code.nativeOf[i+1]) }, "null")},
		tableColumn{"innerWindowID", numbers(func(i int) int64 { return at(i).Window }, "0")},
		tableColumn{"line", numbers(func(i int) int64 { return place(at(i).Line) }, "null")},
		tableColumn{"column", numbers(func(i int) int64 { return place(at(i).Column) }, "null")},
		tableColumn{"originalLocation", constant("null")})
}

// address is a frame's address in its module, -1 for none and for those that exceed the format.
func address(f stream.Frame) int64 {
	if f.Module == 0 || f.Label || f.Offset > math.MaxInt32 {
		return -1
	}
	return int64(f.Offset)
}

// place is a line or column, -1 if unknown.
func place(n int32) int64 {
	if n <= 0 {
		return -1
	}
	return int64(n)
}

// writeFuncs writes the functions, and what they lie in.
func (s *Sink) writeFuncs() {
	funcs := s.code.funcs
	s.writeTable("funcTable", len(funcs),
		tableColumn{"name", numbers(func(i int) int64 { return int64(funcs[i].name) }, "0")},
		tableColumn{"isJS", func(dst []byte, i int) []byte { return strconv.AppendBool(dst, funcs[i].script) }},
		tableColumn{"relevantForJS", func(dst []byte, i int) []byte { return strconv.AppendBool(dst, funcs[i].scripted) }},
		tableColumn{"resource", numbers(func(i int) int64 { return int64(funcs[i].resource) }, "-1")},
		tableColumn{"source", numbers(func(i int) int64 { return int64(funcs[i].source) }, "null")},
		tableColumn{"lineNumber", numbers(func(i int) int64 { return place(funcs[i].line) }, "null")},
		tableColumn{"columnNumber", numbers(func(i int) int64 { return place(funcs[i].column) }, "null")},
		tableColumn{"originalLocation", constant("null")})
	s.writeResources()
	s.writeTable("sources", len(s.code.sources),
		tableColumn{"id", constant("null")},
		tableColumn{"filename", numbers(func(i int) int64 { return int64(s.code.sources[i]) }, "0")},
		tableColumn{"startLine", constant("1")},
		tableColumn{"startColumn", constant("1")},
		tableColumn{"sourceMapURL", constant("null")},
		tableColumn{"content", constant("null")})
}

// writeResources writes the resources: modules, then origins of scripts.
func (s *Sink) writeResources() {
	modules, origins := s.tables.Modules.Len(), s.code.origins
	of := func(module func(i int) int64, origin func(o *origin) int64) cell {
		return numbers(func(i int) int64 {
			if i < modules {
				return module(i)
			}
			return origin(&origins[i-modules])
		}, "null")
	}
	s.writeTable("resourceTable", modules+len(origins),
		tableColumn{"name", of(func(i int) int64 { return int64(s.code.modules[i+1]) }, func(o *origin) int64 { return int64(o.name) })},
		tableColumn{"host", of(func(int) int64 { return none }, func(o *origin) int64 { return int64(o.host) })},
		tableColumn{"type", of(func(int) int64 { return isLibrary }, func(o *origin) int64 { return o.kind() })})
}

// writeLibs writes the modules, which frames refer to by index.
func (s *Sink) writeLibs() {
	s.out.Array("libs")
	for id := stream.ModuleID(1); int(id) <= s.tables.Modules.Len(); id++ {
		s.writeLib(s.tables.Modules.At(id))
	}
	s.out.EndArray()
}

func (s *Sink) writeLib(m stream.Module) {
	path := cmp.Or(m.Path, m.Name)
	s.out.BeginObject()
	for _, x := range []struct{ key, value string }{
		{"arch", cmp.Or(m.Arch, viewer.Process(s.tables, 1).Machine())}, {"name", m.Name}, {"path", path}, {"debugName", m.BreakpadName()}, {"debugPath", cmp.Or(m.DebugPath, path)},
		{"breakpadId", m.BreakpadID()}, {"codeId", m.CodeID()},
	} {
		s.out.Member(x.key, x.value)
	}
	s.out.EndObject()
}

// code is the functions of the run. Frames, stacks and modules are those of the
// tables.
type code struct {
	funcs    []function
	sources  []int32 // names, in the list of strings
	origins  []origin
	of       []int32 // function, by FrameID
	natives  []native
	nativeOf []int32 // by FrameID
	modules  []int32 // names, by ModuleID
	far      int64   // frames whose address the format has no room for
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

// rowBytes is the memory of functions, which a map finds, of the texts of the profile,
// and of the numbers of threads.
var rowBytes = stream.RowBytes{Frame: 8 + int64(unsafe.Sizeof(function{})+2*unsafe.Sizeof(identity{})+unsafe.Sizeof(native{})+2*unsafe.Sizeof(nativeKey{})) + 16, String: viewer.TextBytes, Track: 8}

func (c *code) build(t *stream.Tables, texts *viewer.Texts) {
	c.modules = make([]int32, t.Modules.Len()+1)
	for id := stream.ModuleID(1); int(id) <= t.Modules.Len(); id++ {
		c.modules[id] = texts.Intern(t.Modules.At(id).Name)
	}
	first := c.number(t)
	files := c.files(t, len(first))
	sources, origins := map[sourceKey]int32{}, map[string]int32{"": -1}
	c.funcs = make([]function, len(first))
	for n, id := range first {
		f := t.Frames.At(id)
		key, resource := identityOf(f), int32(f.Module)-1
		if f.Script {
			resource = c.origin(texts, origins, t.Strings.At(key.file))
		}
		c.funcs[n] = function{texts.Intern(nameOf(t, f)), resource, c.source(t, texts, sources, sourceKey{key.module, files[n]}), key.script, key.scripted, key.line, key.column}
	}
}

// number finds the function of each frame, and returns the first frame of each function.
func (c *code) number(t *stream.Tables) (first []stream.FrameID) {
	known := map[identity]int32{}
	c.of = make([]int32, t.Frames.Len()+1)
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		if address(f) < 0 && f.Module != 0 && !f.Label {
			c.far++
		}
		key := identityOf(f)
		n, ok := known[key]
		if !ok {
			n = int32(len(first))
			known[key] = n
			first = append(first, id)
		}
		c.of[id] = n
	}
	return first
}

// files gives each function the file that most of its frames are of, the first one of several.
func (c *code) files(t *stream.Tables, functions int) []stream.StringID {
	type place struct {
		function int32
		file     stream.StringID
	}
	counts, most, files := map[place]int{}, make([]int, functions), make([]stream.StringID, functions)
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		if f, n := t.Frames.At(id), c.of[id]; f.File != 0 {
			key := place{n, f.File}
			of := counts[key] + 1
			if counts[key] = of; of > most[n] {
				most[n], files[n] = of, f.File
			}
		}
	}
	return files
}

// sourceKey is a file as a module was compiled from it. The viewer asks for the text of a source by one place in one
// module, and for another build it may be another text.
type sourceKey struct {
	module stream.ModuleID
	file   stream.StringID
}

// source is the place of a file in the list.
func (c *code) source(t *stream.Tables, texts *viewer.Texts, known map[sourceKey]int32, key sourceKey) int32 {
	if key.file == 0 {
		return -1
	}
	n, ok := known[key]
	if !ok {
		n = int32(len(c.sources))
		known[key] = n
		c.sources = append(c.sources, texts.Intern(t.Strings.At(key.file)))
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

// Types of resources, as the viewer numbers them.
const (
	isLibrary = 1
	isSite    = 3
	isURL     = 5
)

// origin is where scripts come from: a site, or a URL that is on none. Numbers are string indexes;
// the host is -1 for none.
type origin struct{ name, host int32 }

func (o *origin) kind() int64 {
	if o.host < 0 {
		return isURL
	}
	return isSite
}

// siteSchemes are the URL schemes whose scripts the viewer groups by site.
var siteSchemes = []string{"http", "https", "moz-extension"}

// origin is the index of a script's origin in the list of resources.
func (c *code) origin(texts *viewer.Texts, known map[string]int32, script string) int32 {
	name, host := script, ""
	if u, err := url.Parse(script); err == nil && u.Host != "" && slices.Contains(siteSchemes, u.Scheme) {
		name, host = u.Scheme+"://"+u.Host, u.Host
	}
	n, ok := known[name]
	if !ok {
		n = int32(len(c.modules) - 1 + len(c.origins))
		known[name] = n
		row := origin{texts.Intern(name), -1}
		if host != "" {
			row.host = texts.Intern(host)
		}
		c.origins = append(c.origins, row)
	}
	return n
}
