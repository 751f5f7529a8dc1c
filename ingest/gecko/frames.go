package gecko

import (
	"bytes"
	"math"
	"strconv"
	"unsafe"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// frame is a row of the frame table. A frame that is not categorized has its caller's category.
type frame struct {
	stream.Frame
	categorized bool
}

// geckoFrames reads the frames of a Gecko profile's thread, each of which is a string.
func (r *reader) geckoFrames(c *code) {
	t := c.frameTable.columns("location", "line", "column", "category", "subcategory", "innerWindowID", "implementation", "optimizations", "relevantForJS")
	for t.next() && !r.full() {
		text := t.requiredText(0, c.texts)
		name, scripted := r.oldLabel(text)
		f := frame{Frame: r.located(c, parseLocation(name))}
		if line, ok := t.line(1); ok {
			f.Line = line
		}
		if f.Script {
			f.Column, _ = t.line(2)
		}
		r.categorize(&f, t, 3, 4)
		f.Window, _ = t.integer(5)
		f.Scripted = scripted && f.Label || t.truth(8)
		r.unplaced(t, 6, "implementations of frames")
		r.unplaced(t, 7, "optimizations of frames")
		c.frames = append(c.frames, f)
		r.claimCode(frameBytes)
	}
	r.ended(t, "frames")
}

// located is the frame at a location.
func (r *reader) located(c *code, l location) stream.Frame {
	f := stream.Frame{Function: r.intern(l.name)}
	switch l.kind {
	case isLabel:
		f.Label = true
	case isAddress:
		f.Function = 0
		if f.Module, f.Offset = c.modules.find(l.address); f.Module != 0 && f.Offset >= maxAddress {
			r.file.notes.add(stream.ReasonImpossible, c.frameTable.of+".location", c.frameTable.v.Offset())
			f.Offset = 0
		}
	case isNative:
		f.Module = r.byName(c.modules, string(l.place))
		if len(l.file) > 0 {
			f.File, f.Line = r.intern(l.file), l.fileLine
		}
	case isScript:
		f.Script, f.File, f.Start, f.StartColumn = true, r.intern(l.place), l.line, l.column
	}
	return f
}

// categorize sets the category in two cells.
func (r *reader) categorize(f *frame, t *table, category, sub int) {
	id, ok := r.categoryOf(t, category, sub)
	f.Category, f.categorized = id, ok
}

// categoryOf is the category in two cells.
func (r *reader) categoryOf(t *table, category, sub int) (stream.CategoryID, bool) {
	if r.noCategories {
		bit, ok := t.integer(category)
		i, known := oldCategory(bit)
		if !known {
			t.bad(stream.ReasonImpossible, category)
		}
		return r.categories[i][0], ok
	}
	i, ok := t.index(category, len(r.categories))
	if !ok {
		return 0, false
	}
	parts := r.categories[i]
	k, _ := t.index(sub, len(parts))
	return parts[k], true
}

// Flags of processed frames, from version 71 on.
const (
	frameInlined = 1 << iota
	frameAddress
	frameCategory
	_
	frameLine
	frameColumn
)

// processedFrames reads the frames of a processed profile, each of which has a function.
func (r *reader) processedFrames(c *code) {
	t := c.frameTable.columns("func", "address", "lib", "inlineDepth", "line", "column", "category", "subcategory", "flags",
		"innerWindowID", "implementation", "optimizations", "originalLocation")
	funcs := r.functions(c)
	defer func() { r.claimCode(-functionBytes * int64(len(funcs))) }()
	for t.next() && !r.full() {
		f := frame{}
		if i, ok := t.required(0, len(funcs)); ok {
			f.Frame = funcs[i]
		}
		flags, flagged := t.integer(8)
		is := func(flag int64) bool { return !flagged || flags&flag != 0 }
		if is(frameAddress) {
			r.addressed(&f.Frame, c, t)
		}
		if is(frameLine) {
			f.Line, _ = t.line(4)
		}
		if f.Script && is(frameColumn) {
			f.Column, _ = t.line(5)
		}
		if is(frameCategory) {
			r.categorize(&f, t, 6, 7)
		}
		f.Window, _ = t.integer(9)
		r.unplaced(t, 10, "implementations of frames")
		r.unplaced(t, 11, "optimizations of frames")
		r.unplaced(t, 12, "original locations")
		c.frames = append(c.frames, f)
		r.claimCode(frameBytes)
	}
	r.ended(t, "frames")
}

// maxAddress bounds addresses in a module: the viewer has 32 bits for them.
const maxAddress = 1 << 32

// addressed sets the place of a frame in a library. A function named by its address has no name.
func (r *reader) addressed(f *stream.Frame, c *code, t *table) {
	if i, ok := t.optional(2, len(c.modules.list)); ok {
		f.Module = c.modules.list[i].id
	}
	if f.Module == 0 {
		return
	}
	f.Label = false
	if at, ok := t.optional(1, min(maxAddress, math.MaxInt)); ok {
		f.Offset = uint64(at)
	}
	f.Depth, _ = t.line(3)
	if f.Function != 0 && r.t.Strings.At(f.Function) == "0x"+strconv.FormatUint(f.Offset, 16) {
		f.Function = 0
	}
}

// Flags of processed functions, from version 75 on.
const (
	funcScript = 1 << iota
	funcScripted
	funcResource
	funcSource
	funcLine
	funcColumn
)

const functionBytes = 2 * int64(unsafe.Sizeof(stream.Frame{}))

// functions reads the functions of a processed profile as frames without a place.
func (r *reader) functions(c *code) (all []stream.Frame) {
	files := r.sourceFiles(c)
	resources := r.resources(c)
	t := c.funcTable.columns("name", "isJS", "resource", "source", "fileName", "lineNumber", "columnNumber", "flags", "relevantForJS")
	for t.next() && !r.full() {
		name := t.requiredText(0, c.texts)
		name, scripted := r.oldLabel(name)
		flags, flagged := t.integer(7)
		is := func(flag int64) bool { return !flagged || flags&flag != 0 }
		f := stream.Frame{Script: t.truth(1) || flagged && flags&funcScript != 0}
		if !r.placeScript(&f, name) {
			f.Function = r.intern(name)
		}
		f.Scripted = scripted && !f.Script || t.truth(8) || flagged && flags&funcScripted != 0
		if is(funcResource) {
			if i, ok := t.optional(2, len(resources)); ok {
				f.Module = resources[i]
			}
		}
		if text, ok := t.text(4, c.texts); ok {
			f.File = r.intern(text)
		}
		if is(funcSource) {
			if i, ok := t.index(3, len(files)); ok {
				f.File = files[i]
			}
		}
		if is(funcLine) {
			if line, ok := t.line(5); ok {
				f.Start = line
			}
		}
		if f.Script && is(funcColumn) {
			if column, ok := t.line(6); ok {
				f.StartColumn = column
			}
		}
		if f.Script {
			f.Module = 0
		}
		f.Label = f.Module == 0 && !f.Script
		all = append(all, f)
		r.claimCode(functionBytes)
	}
	r.ended(t, "functions")
	return all
}

// sourceFiles are the file names of the sources.
func (r *reader) sourceFiles(c *code) (all []stream.StringID) {
	t := c.sources.columns("filename", "sourceMapURL", "content")
	for t.next() && !r.full() {
		name, _ := t.text(0, c.texts)
		all = append(all, r.intern(name))
		r.unplaced(t, 1, "maps of sources")
		r.unplaced(t, 2, "texts of sources")
	}
	r.ended(t, "sources")
	return all
}

// resources are the modules of the resources, which exist until version 69.
func (r *reader) resources(c *code) (all []stream.ModuleID) {
	t := c.resourceTable.columns("lib", "name")
	for t.next() && !r.full() {
		var id stream.ModuleID
		if i, ok := t.optional(0, len(c.modules.list)); ok {
			id = c.modules.list[i].id
		}
		all = append(all, id)
	}
	r.ended(t, "resources")
	return all
}

// location is the parsed text of a frame in a Gecko profile. The viewer matches these patterns:
//
//	0x…                       an address
//	name (in module)          a native function; + bytes or (file:line) may follow
//	name (place:line:column)  a script function that begins there; [source] may follow
//	place:line:column         script code outside functions
//	anything else             a label
//
// A place may be a chain of scripts that loaded each other, joined by " -> ": the last one counts.
type location struct {
	kind         locationKind
	name         []byte
	place        []byte // module or file
	address      uint64
	line, column int32  // where a script function begins
	file         []byte // of a native function, if known
	fileLine     int32
}

type locationKind uint8

const (
	isLabel locationKind = iota
	isAddress
	isNative
	isScript
)

// rootScope is what the viewer calls script code outside functions.
const rootScope = "(root scope) "

var arrow = []byte(" -> ")

func parseLocation(text []byte) location {
	if bytes.HasPrefix(text, []byte("0x")) {
		if address, err := strconv.ParseUint(string(text[2:]), 16, 64); err == nil {
			return location{kind: isAddress, address: address}
		}
	}
	if l, ok := parseNative(text); ok {
		return l
	}
	l, ok := parseScript(cutSource(text))
	if !ok {
		return location{name: text}
	}
	if len(l.name) == 0 {
		l.name = append([]byte(rootScope), l.place...)
	}
	return l
}

// parseNative parses "name (in module)".
func parseNative(text []byte) (l location, ok bool) {
	i := bytes.LastIndex(text, []byte(" (in "))
	if i < 0 {
		return l, false
	}
	l.kind, l.name = isNative, bytes.TrimPrefix(text[:i], []byte("non-virtual thunk to "))
	module, rest, found := bytes.Cut(text[i+len(" (in "):], []byte(")"))
	if l.place = module; !found {
		return l, false
	}
	switch {
	case len(rest) == 0:
		return l, true
	case bytes.HasPrefix(rest, []byte(" + ")):
		_, err := strconv.ParseUint(string(rest[3:]), 10, 64)
		return l, err == nil
	case bytes.HasPrefix(rest, []byte(" (")) && rest[len(rest)-1] == ')':
		var column int32
		l.file, l.fileLine, column, ok = cutPlace(rest[2 : len(rest)-1])
		return l, ok && column == 0
	}
	return l, false
}

// parseScript parses "name (place:line:column)" and "place:line:column".
func parseScript(text []byte) (l location, ok bool) {
	l.kind = isScript
	if n := len(text); n > 0 && text[n-1] == ')' {
		i := bytes.LastIndex(text, []byte(" ("))
		if i < 0 {
			return l, false
		}
		l.name, text = text[:i], text[i+2:n-1]
	}
	l.place, l.line, l.column, ok = cutPlace(text)
	l.place = lastPlace(l.place)
	return l, ok && len(l.place) > 0
}

func lastPlace(chain []byte) []byte {
	if i := bytes.LastIndex(chain, arrow); i >= 0 {
		return chain[i+len(arrow):]
	}
	return chain
}

// cutPlace parses "place:line:column" and "place:line".
func cutPlace(text []byte) (place []byte, line, column int32, ok bool) {
	place, line, ok = cutNumber(text)
	if before, first, two := cutNumber(place); ok && two {
		place, line, column = before, first, line
	}
	return place, line, column, ok && len(place) > 0
}

// cutNumber cuts a colon and a number off the end.
func cutNumber(text []byte) (rest []byte, n int32, ok bool) {
	i := bytes.LastIndexByte(text, ':')
	if i < 0 || i+1 == len(text) {
		return text, 0, false
	}
	number, err := strconv.ParseUint(string(text[i+1:]), 10, 31)
	if err != nil {
		return text, 0, false
	}
	return text[:i], int32(number), true
}

// cutSource cuts a source number such as [12] off the end.
func cutSource(text []byte) []byte {
	n := len(text)
	i := bytes.LastIndexByte(text, '[')
	if i < 0 || text[n-1] != ']' {
		return text
	}
	if _, ok := jsonfile.Int(text[i+1 : n-1]); !ok {
		return text
	}
	return text[:i]
}
