package perfetto

import (
	"cmp"
	"encoding/hex"
	"strconv"
	"strings"

	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// code sends stacks, and what they are made of, when they are first needed. Their ids are those of the tables; those
// of texts that are not in the tables come after.
type code struct {
	*packets
	tables    *stream.Tables
	stacks    []bool // by id, as are these: it is sent
	frames    []bool
	functions []bool
	sources   []bool
	modules   []bool // 0 is what lies in no module
	ids       []uint64
	row       []byte
}

func newCode(t *stream.Tables, p *packets) code {
	return code{packets: p, tables: t, stacks: make([]bool, t.Stacks.Len()+1), frames: make([]bool, t.Frames.Len()+1),
		functions: make([]bool, t.Strings.Len()+1), sources: make([]bool, t.Strings.Len()+1), modules: make([]bool, t.Modules.Len()+1)}
}

// first reports whether an id is needed for the first time.
func first(sent []bool, id int32) bool {
	was := sent[id]
	sent[id] = true
	return !was
}

// stack is the number of a stack, 0 for none.
func (c *code) stack(id stream.StackID) uint64 {
	if id == 0 || !first(c.stacks, int32(id)) {
		return uint64(id)
	}
	c.ids = c.ids[:0]
	for at := id; at != 0; {
		caller, frame := c.tables.Stacks.At(at)
		c.ids, at = append(c.ids, c.frame(frame)), caller
	}
	row := protobuf.AppendNumber(c.row[:0], pb.InternedID, uint64(id))
	for i := len(c.ids) - 1; i >= 0; i-- {
		row = protobuf.AppendNumber(row, pb.CallstackFrame, c.ids[i])
	}
	c.row = row
	c.intern(pb.InternedCallstack, row)
	return uint64(id)
}

// noStack is the number of a stack for what must have one.
func (c *code) noStack() uint64 {
	id := uint64(c.tables.Stacks.Len()) + 1
	if first(c.stacks, 0) {
		function, frame := uint64(c.tables.Strings.Len())+1+uint64(c.tables.Frames.Len()), uint64(c.tables.Frames.Len())+1
		c.internText(pb.InternedFunction, function, "(no stack)")
		c.intern(pb.InternedFrame, appendNumbers(nil, pb.InternedID, frame, pb.FrameFunction, function, pb.FrameMapping, c.mapping(0)))
		c.intern(pb.InternedCallstack, appendNumbers(nil, pb.InternedID, id, pb.CallstackFrame, frame))
	}
	return id
}

func (c *code) frame(id stream.FrameID) uint64 {
	if !first(c.frames, int32(id)) {
		return uint64(id)
	}
	f := c.tables.Frames.At(id)
	row := appendNumbers(nil, pb.InternedID, uint64(id), pb.FrameFunction, c.function(id, f), pb.FrameMapping, c.mapping(f.Module), pb.FrameAddress, f.Offset)
	if f.File != 0 {
		if first(c.sources, int32(f.File)) {
			c.internText(pb.InternedSource, uint64(f.File), c.tables.Strings.At(f.File))
		}
		row = appendNumbers(row, pb.FrameSource, uint64(f.File), pb.FrameLine, uint64(max(0, f.Line)))
	}
	c.intern(pb.InternedFrame, row)
	return uint64(id)
}

// function is the number of the name of a frame's function. Code without a name is called by its address.
func (c *code) function(id stream.FrameID, f stream.Frame) uint64 {
	if f.Function == 0 {
		number := uint64(c.tables.Strings.Len()) + uint64(id)
		c.internText(pb.InternedFunction, number, "0x"+strconv.FormatUint(f.Offset, 16))
		return number
	}
	if first(c.functions, int32(f.Function)) {
		c.internText(pb.InternedFunction, uint64(f.Function), cmp.Or(c.tables.Strings.At(f.Function), "(no name)"))
	}
	return uint64(f.Function)
}

// mapping is the number of a module's mapping, which every frame needs. Perfetto puts a slash before its path.
func (c *code) mapping(id stream.ModuleID) uint64 {
	number := uint64(id) + 1
	if !first(c.modules, int32(id)) {
		return number
	}
	row := protobuf.AppendNumber(nil, pb.InternedID, number)
	if id != 0 {
		m := c.tables.Modules.At(id)
		build, err := hex.DecodeString(m.CodeID())
		if err != nil {
			build = []byte(clean(m.CodeID()))
		}
		text := protobuf.AppendNumber(nil, pb.InternedID, number)
		c.intern(pb.InternedBuildID, protobuf.AppendBytes(text, pb.InternedText, build))
		c.internText(pb.InternedPath, number, strings.TrimPrefix(cmp.Or(m.Path, m.Name), "/"))
		row = appendNumbers(row, pb.MappingBuildID, number, pb.MappingPath, number)
	}
	c.intern(pb.InternedMapping, row)
	return number
}

// names sends the names of events, categories and arguments when they are first needed.
type names struct {
	*packets
	sent map[name]uint64
	last [pb.InternedAnnotationName + 1]uint64 // by field
}

type name struct {
	field int // of InternedData
	text  string
}

func (n *names) number(field int, text string) uint64 {
	key := name{field, text}
	id, ok := n.sent[key]
	if !ok {
		if n.sent == nil {
			n.sent = map[name]uint64{}
		}
		n.last[field]++
		id = n.last[field]
		n.sent[key] = id
		n.internText(field, id, text)
	}
	return id
}
