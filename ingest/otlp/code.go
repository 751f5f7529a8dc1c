package otlp

import (
	"cmp"

	"gprof/ingest/internal/naming"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
	"gprof/stream/gonames"
)

// code turns the rows of a file's tables into those of the stream's, as samples refer to them.
type code struct {
	from    *dictionary
	to      *stream.Tables
	resolve naming.Resolve

	// By number; 0: not looked up yet, or none.
	texts   []stream.StringID
	modules []module
	stacks  []stream.StackID
	located []extent // in frames

	frames    []stream.FrameID // of locations, each from the outermost frame inward
	locations []uint64         // scratch, as is this
	lines     []line

	undefined, malformed, tooDeep, details int64
}

// module is a mapping.
type module struct {
	known                bool
	id                   stream.ModuleID
	start, limit, offset uint64
}

type line struct{ function, number uint64 }

const (
	// maxStack bounds the locations of a stack, which is cut on the outside.
	maxStack = 1 << 16
	// maxInline bounds the lines of a location; no compiler inlines so deep.
	maxInline = 256
)

func newCode(d *dictionary, t *stream.Tables, resolve naming.Resolve) *code {
	return &code{from: d, to: t, resolve: resolve,
		texts:   make([]stream.StringID, len(d.tables[otlpproto.DictionaryString])),
		modules: make([]module, len(d.tables[otlpproto.DictionaryMapping])),
		stacks:  make([]stream.StackID, len(d.tables[otlpproto.DictionaryStack])),
		located: make([]extent, len(d.tables[otlpproto.DictionaryLocation])),
	}
}

// bytes is the memory of c and of what it is made from.
func (c *code) bytes() int64 {
	return c.from.bytes() + 4*int64(len(c.texts)) + 48*int64(len(c.modules)) + 4*int64(len(c.stacks)) + 8*int64(len(c.located)) + 4*int64(cap(c.frames))
}

// numbersOf are the numeric fields of a row.
func numbersOf(row []byte) (n protobuf.Numbers) {
	n.Read(row)
	return n
}

// row is a row of a table; one that is not there is counted.
func (c *code) row(field int, n uint64) ([]byte, bool) {
	row, ok := c.from.row(field, n)
	if !ok {
		c.undefined++
	}
	return row, ok
}

// text is string n.
func (c *code) text(n uint64) stream.StringID {
	if n >= uint64(len(c.texts)) {
		c.undefined++
		return 0
	}
	if c.texts[n] == 0 {
		c.texts[n] = c.to.Strings.Intern(c.from.text(n))
	}
	return c.texts[n]
}

// stack is stack n.
func (c *code) stack(n uint64) stream.StackID {
	row, ok := c.row(otlpproto.DictionaryStack, n)
	if !ok {
		return c.to.Stacks.Intern(0, c.unknown())
	}
	if c.stacks[n] != 0 || len(row) == 0 {
		return c.stacks[n]
	}
	c.locations = c.locations[:0]
	m := protobuf.Message{Rest: row}
	whole := true
	for v, more := m.Read(); more; v, more = m.Read() {
		if v.Number == otlpproto.StackLocations {
			c.locations, whole = v.Numbers(c.locations, maxStack)
		}
	}
	if m.Bad {
		c.malformed++
	} else if !whole {
		c.tooDeep++
	}
	stack := stream.StackID(0)
	for i := len(c.locations) - 1; i >= 0; i-- {
		for _, frame := range c.framesAt(c.locations[i]) {
			stack = c.to.Stacks.Intern(stack, frame)
		}
	}
	c.stacks[n] = stack
	return stack
}

// unknown is the frame of a place that is not there.
func (c *code) unknown() stream.FrameID {
	return c.to.Frames.Intern(stream.Frame{Function: c.to.Strings.Intern("(undefined location)"), Label: true})
}

// framesAt are the frames of a location, the outermost first, valid until the next call.
func (c *code) framesAt(n uint64) []stream.FrameID {
	row, ok := c.row(otlpproto.DictionaryLocation, n)
	if !ok {
		return []stream.FrameID{c.unknown()}
	}
	e := c.located[n]
	if e.to == 0 {
		e.from = uint32(len(c.frames))
		c.locate(row)
		e.to = uint32(len(c.frames))
		c.located[n] = e
	}
	return c.frames[e.from:e.to]
}

// locate appends the frames of a location.
func (c *code) locate(row []byte) {
	var n protobuf.Numbers
	c.lines = c.lines[:0]
	m := protobuf.Message{Rest: row}
	for v, more := m.Read(); more; v, more = m.Read() {
		switch {
		case v.Number == otlpproto.LocationLine && len(c.lines) < maxInline:
			l := numbersOf(v.Bytes)
			c.lines = append(c.lines, line{l[otlpproto.LineFunction], l[otlpproto.LineNumber]})
			if l[otlpproto.LineColumn] != 0 {
				c.details++
			}
		case v.Number == otlpproto.LocationAttributes:
			c.details++
		}
		n.Set(v)
	}
	if m.Bad {
		c.malformed++
	}
	frame, outside := c.place(n[otlpproto.LocationMapping], n[otlpproto.LocationAddress])
	if len(c.lines) == 0 {
		known := len(c.frames)
		if !outside {
			c.frames = c.resolve.Append(c.frames, c.to, frame, frame.Offset)
		}
		if len(c.frames) == known {
			c.frames = append(c.frames, c.to.Frames.Intern(frame))
		}
		return
	}
	for i := len(c.lines) - 1; i >= 0; i-- {
		c.call(frame, c.lines[i])
		frame.Depth++
	}
}

// place is the module and offset of an address. It may be outside of its mapping.
func (c *code) place(mapping, address uint64) (f stream.Frame, outside bool) {
	f.Offset = address
	if mapping == 0 {
		return f, false
	}
	if mapping >= uint64(len(c.modules)) {
		c.undefined++
		return f, false
	}
	m := &c.modules[mapping]
	if !m.known {
		c.module(m, mapping)
	}
	f.Module = m.id
	outside = address < m.start || address >= m.limit && m.limit != 0
	if !outside {
		f.Offset = address - m.start + m.offset
	}
	return f, outside
}

// module looks a mapping up, and adds it to the stream's.
func (c *code) module(m *module, number uint64) {
	row, _ := c.row(otlpproto.DictionaryMapping, number)
	n := numbersOf(row)
	*m = module{known: true, start: n[otlpproto.MappingStart], limit: n[otlpproto.MappingLimit], offset: n[otlpproto.MappingOffset]}
	file, build := c.from.text(n[otlpproto.MappingFile]), ""
	names := stream.MappingNames(0)
	var numbers []uint64
	message := protobuf.Message{Rest: row}
	for v, more := message.Read(); more; v, more = message.Read() {
		if v.Number == otlpproto.MappingAttributes {
			numbers, _ = v.Numbers(numbers, maxAttributes)
		}
	}
	known, undefined := c.from.attributes(numbers)
	c.undefined += undefined
	for _, a := range known {
		switch a.key {
		case "process.executable.build_id.gnu", "process.executable.build_id.go":
			build = cmp.Or(build, a.text)
		case "process.executable.build_id.htlhash":
			// Of the file's contents: no program tells it of itself.
		case "pprof.mapping.has_functions":
			names |= stream.NamesFunctions
		case "pprof.mapping.has_filenames":
			names |= stream.NamesFiles
		case "pprof.mapping.has_line_numbers":
			names |= stream.NamesLines
		case "pprof.mapping.has_inline_frames":
			names |= stream.NamesInlined
		default:
			c.details++
		}
	}
	if file == "" && build == "" {
		return
	}
	m.id = naming.Module(c.to, file, build)
	c.to.AddMapping(stream.Mapping{Module: m.id, Start: m.start, Limit: m.limit, Offset: m.offset, Path: file, Names: names})
}

// call appends the frame of a line.
func (c *code) call(frame stream.Frame, l line) {
	frame.Line = int32(min(l.number, 1<<31-1))
	linked, isLinked := "", false
	if row, ok := c.row(otlpproto.DictionaryFunction, l.function); ok && l.function != 0 {
		f := numbersOf(row)
		name, system := f[otlpproto.FunctionName], f[otlpproto.FunctionSystem]
		isLinked = system != name && name != 0
		if name == 0 {
			name = system
		}
		linked = c.from.text(system)
		frame.Function, frame.File, frame.Start = c.text(name), c.text(f[otlpproto.FunctionFile]), int32(min(f[otlpproto.FunctionStart], 1<<31-1))
	}
	if frame.Function != 0 {
		if name := c.to.Strings.At(frame.Function); gonames.FromGo(name, c.to.Strings.At(frame.File)) {
			frame.Category = c.to.Categories.Intern(gonames.Category(name))
		}
	}
	id := c.to.Frames.Intern(frame)
	c.frames = append(c.frames, id)
	if isLinked {
		c.to.SetLinkName(id, linked)
	}
}
