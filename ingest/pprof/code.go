package pprof

import (
	"gprof/stream"
)

// code turns the locations of a file into frames of the run.
type code struct {
	from *tables
	to   *stream.Tables

	modules   []stream.ModuleID // by place of the mapping, -1 not yet known
	functions []named           // by place of the function
	strings   []stream.StringID // by number, -1 not yet known
	located   []extent          // in frames, by place of the location; to is 0 if they are not yet known
	frames    []stream.FrameID  // of all locations that were used, each from the outermost frame inward
	unknown   stream.FrameID    // of a location that is not there

	undefined int64 // locations, functions, mappings and names that are not there
	tooDeep   int64 // stacks
	path      []int32
}

// named is what frames have of a function.
type named struct {
	known      bool
	name, file stream.StringID
}

// maxStack is of how many frames a stack is, at most: it is cut on the outside.
const maxStack = 1 << 16

func newCode(from *tables, to *stream.Tables) *code {
	c := &code{from: from, to: to, modules: make([]stream.ModuleID, len(from.mappings.rows)),
		functions: make([]named, len(from.functions.rows)), located: make([]extent, len(from.locations.rows))}
	c.strings = make([]stream.StringID, len(from.texts.at))
	for i := range c.modules {
		c.modules[i] = -1
	}
	for i := range c.strings {
		c.strings[i] = -1
	}
	return c
}

// stack interns the stack of some locations, the innermost first.
func (c *code) stack(locations []uint64) (id stream.StackID) {
	c.path = c.path[:0]
	depth := 0
	for _, number := range locations {
		at := c.from.locations.find(number)
		depth += c.depth(at)
		if depth > maxStack {
			c.tooDeep++
			break
		}
		c.path = append(c.path, int32(at))
	}
	for i := len(c.path) - 1; i >= 0; i-- {
		for _, frame := range c.framesAt(int(c.path[i])) {
			id = c.to.Stacks.Intern(id, frame)
		}
	}
	return id
}

// depth is how many frames a location has.
func (c *code) depth(at int) int {
	if at < 0 {
		return 1
	}
	l := &c.from.locations.rows[at]
	return max(1, int(l.to-l.from))
}

// framesAt are the frames of a location.
func (c *code) framesAt(at int) []stream.FrameID {
	if at < 0 {
		c.undefined++
		return []stream.FrameID{c.undefinedFrame()}
	}
	e := &c.located[at]
	if e.to == 0 {
		e.from = uint32(len(c.frames))
		c.locate(&c.from.locations.rows[at])
		e.to = uint32(len(c.frames))
	}
	return c.frames[e.from:e.to]
}

// undefinedFrame stands for a location that is not there.
func (c *code) undefinedFrame() stream.FrameID {
	if c.unknown == 0 {
		c.unknown = c.to.Frames.Intern(stream.Frame{Function: c.to.Strings.Intern("(undefined location)"), Label: true})
	}
	return c.unknown
}

// locate adds the frames of a location.
func (c *code) locate(l *location) {
	frame := c.place(l)
	lines := c.from.lines[l.from:l.to]
	if len(lines) == 0 {
		c.frames = append(c.frames, c.to.Frames.Intern(frame))
	}
	for i := len(lines) - 1; i >= 0; i-- {
		f := c.function(lines[i].function, &frame)
		frame.Depth = int32(len(lines) - 1 - i)
		frame.Function, frame.File, frame.Line = f.name, f.file, lines[i].number
		c.frames = append(c.frames, c.to.Frames.Intern(frame))
	}
}

// place returns a frame with the module and the offset of a location.
func (c *code) place(l *location) (f stream.Frame) {
	f.Offset = l.address
	if l.mapping == 0 {
		return f
	}
	at := c.from.mappings.find(l.mapping)
	if at < 0 {
		c.undefined++
		return f
	}
	m := &c.from.mappings.rows[at]
	f.Module = c.module(at)
	if l.address >= m.start && (l.address < m.limit || m.limit == 0) {
		f.Offset = l.address - m.start + m.offset
	}
	return f
}

// module interns that of a mapping, 0 if nothing is known of it.
func (c *code) module(at int) stream.ModuleID {
	if c.modules[at] < 0 {
		m := &c.from.mappings.rows[at]
		path := c.text(m.file)
		row := stream.Module{Build: c.text(m.build), Path: path, Name: baseName(path)}
		if row.Build != "" {
			row.Path = ""
		}
		c.modules[at] = 0
		if row != (stream.Module{}) {
			c.modules[at] = c.to.Modules.Intern(row)
		}
	}
	return c.modules[at]
}

func (c *code) text(n uint64) string {
	s, ok := c.from.texts.get(n)
	if !ok && n != 0 {
		c.undefined++
	}
	return string(s)
}

// function returns the names of a function, and sets where it begins.
func (c *code) function(number uint64, frame *stream.Frame) named {
	at := c.from.functions.find(number)
	if at < 0 {
		if number != 0 {
			c.undefined++
		}
		frame.Start = 0
		return named{}
	}
	row, f := &c.from.functions.rows[at], &c.functions[at]
	frame.Start = row.start
	if !f.known {
		*f = named{true, c.intern(row.name), c.intern(row.file)}
		if f.name == 0 {
			f.name = c.intern(row.system)
		}
	}
	return *f
}

func (c *code) intern(n uint64) stream.StringID {
	if n >= uint64(len(c.strings)) {
		c.undefined++
		return 0
	}
	if c.strings[n] < 0 {
		s, _ := c.from.texts.get(n)
		c.strings[n] = c.to.Strings.InternBytes(s)
	}
	return c.strings[n]
}
