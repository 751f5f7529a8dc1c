package tables

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gprof/stream"
)

// key identifies a frame or stack by its content, with the same value in every run and on
// every host. It is the beginning of a SHA-256.
type key [KeySize]byte

// contentKeys are the keys of all frames and stacks by id, and the depths of stacks.
type contentKeys struct {
	frames, stacks []key
	depths         []int32
}

func keysOf(t *stream.Tables) *contentKeys {
	k := &contentKeys{make([]key, t.Frames.Len()+1), make([]key, t.Stacks.Len()+1), make([]int32, t.Stacks.Len()+1)}
	var text []byte
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		text = appendFrame(text[:0], t, t.Frames.At(id))
		k.frames[id] = keyOf(text)
	}
	for id := stream.StackID(1); int(id) <= t.Stacks.Len(); id++ {
		prefix, frame := t.Stacks.At(id)
		text = append(append(text[:0], k.stacks[prefix][:]...), k.frames[frame][:]...)
		k.stacks[id] = keyOf(text)
		k.depths[id] = k.depths[prefix] + 1
	}
	return k
}

func keyOf(text []byte) (k key) {
	sum := sha256.Sum256(text)
	copy(k[:], sum[:])
	return k
}

// appendFrame appends a frame without ids of this run. A module's path counts only without a build
// id, and what the tables lack only if it is not empty: no two rows share a key.
func appendFrame(dst []byte, t *stream.Tables, f stream.Frame) []byte {
	module := moduleOf(t, f)
	if module.Build != "" {
		module.Path = ""
	}
	category := stream.Other.Name
	if f.Category != 0 {
		category = t.Categories.At(f.Category).Title()
	}
	dst = appendTexts(dst, module.Build, module.Path, module.Name, textAt(t, f.Function), textAt(t, f.File), category)
	if debug := []string{module.DebugPath, module.DebugName, module.Breakpad, module.Arch}; strings.Join(debug, "") != "" {
		dst = appendTexts(dst, debug...)
	}
	dst = binary.AppendUvarint(dst, f.Offset)
	dst = binary.AppendVarint(dst, int64(f.Depth))
	dst = binary.AppendVarint(dst, int64(f.Line))
	if f.Window != 0 || f.Scripted {
		dst = strconv.AppendBool(binary.AppendVarint(dst, f.Window), f.Scripted)
	}
	if f.Script {
		for _, place := range []int32{f.Column, f.Start, f.StartColumn} {
			dst = binary.AppendVarint(dst, int64(place))
		}
		return append(dst, 2)
	}
	if f.Label {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendTexts(dst []byte, texts ...string) []byte {
	for _, s := range texts {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	return dst
}

func moduleOf(t *stream.Tables, f stream.Frame) stream.Module {
	if f.Module == 0 {
		return stream.Module{}
	}
	return t.Modules.At(f.Module)
}

func textAt(t *stream.Tables, id stream.StringID) string {
	if id == 0 {
		return ""
	}
	return t.Strings.At(id)
}

// writeCode writes the stacks that a part's rows refer to, with their callers, frames and names.
func (s *Sink) writeCode(p *part) error {
	used := p.stacks
	if used == nil {
		used = newBits(s.tables.Stacks.Len())
	}
	sampled := slices.Clone(used)
	s.tree.use(s.tables, used)
	frames, strings := newBits(s.tables.Frames.Len()), newBits(s.tables.Strings.Len())
	used.rising(func(number int) {
		_, frame := s.tables.Stacks.At(s.tree.stacks[number])
		frames.set(int(frame))
	})
	frames.rising(func(id int) {
		f := s.tables.Frames.At(stream.FrameID(id))
		strings.set(int(f.Function))
		strings.set(int(f.File))
	})
	return errors.Join(s.writeStacks(p, used, sampled), s.writeFrames(p, frames), s.writeStrings(p, strings))
}

func (s *Sink) writeFrames(p *part, used bits) error {
	return s.fill(p, frameTable, func(t *table) {
		used.rising(func(id int) { s.writeFrame(t.begin(), p, stream.FrameID(id)) })
	})
}

func (s *Sink) writeStrings(p *part, used bits) error {
	return s.fill(p, stringTable, func(t *table) {
		used.rising(func(id int) {
			row := t.begin()
			row.column().string(p.name)
			row.column().short(int32(id))
			s.put(row, s.tables.Strings.At(stream.StringID(id)))
			row.end(1)
		})
	})
}

// maxFrames is the most frames in a row of stacks, the innermost ones. Each depth of a
// recursion may be a stack, so that all frames would be the square of the depth.
const maxFrames = 1024

// writeStacks writes stacks, by number. Only those that rows refer to list their frames, which for a
// deep recursion are many.
func (s *Sink) writeStacks(p *part, used, sampled bits) error {
	var path []int32
	inner, keys, cut := s.tree.inner(), s.keys(), int64(0)
	err := s.fill(p, stackTable, func(t *table) {
		used.rising(func(number int) {
			id := s.tree.stacks[number]
			prefix, frame := s.tables.Stacks.At(id)
			row := t.begin()
			row.column().string(p.name)
			row.column().short(int32(number))
			row.column().short(s.tree.takeLast(number))
			row.column().text(keys.stacks[id][:])
			row.column().id(s.tree.number[prefix])
			row.column().short(int32(frame))
			row.column().flag(!inner.has(number))
			row.column().short(keys.depths[id])
			if list := row.column(); sampled.has(number) {
				path = s.path(path[:0], id)
				list.ids(path)
				cut += int64(min(max(int(keys.depths[id])-maxFrames, 0), 1))
			} else {
				list.null()
			}
			row.end(1)
		})
	})
	if cut > 0 {
		s.lost.Add(stream.Line{Reason: stream.ReasonMoved, What: "stacks", Where: fmt.Sprintf("of more than %d frames: the others are found by prefix", maxFrames), Count: cut})
	}
	return err
}

// path appends the innermost frames of a stack, leaf first.
func (s *Sink) path(dst []int32, id stream.StackID) []int32 {
	for id != 0 && len(dst) < maxFrames {
		prefix, frame := s.tables.Stacks.At(id)
		dst = append(dst, int32(frame))
		id = prefix
	}
	return dst
}

// frameName names a frame by its function, or its place.
func frameName(t *stream.Tables, f stream.Frame, module stream.Module) string {
	switch {
	case f.Function != 0:
		return textAt(t, f.Function)
	case module.Name != "":
		return module.Name + "+0x" + strconv.FormatUint(f.Offset, 16)
	}
	return "?"
}

func (s *Sink) writeFrame(row *rows, p *part, id stream.FrameID) {
	f := s.tables.Frames.At(id)
	module := moduleOf(s.tables, f)
	row.column().string(p.name)
	row.column().short(int32(id))
	row.column().text(s.keys().frames[id][:])
	s.put(row, frameName(s.tables, f, module))
	s.putKnown(row, textAt(s.tables, f.Function))
	s.putKnown(row, textAt(s.tables, f.File))
	row.column().id(f.Line)
	s.putKnown(row, module.Name)
	s.putKnown(row, module.Build)
	if address := row.column(); f.Module == 0 && f.Offset == 0 {
		address.null()
	} else {
		address.long(int64(f.Offset))
	}
	row.column().short(f.Depth)
	s.put(row, s.category(f.Category))
	s.putKnown(row, s.part(f.Category))
	row.column().flag(f.Label)
	row.column().id(int32(f.Function))
	row.column().id(int32(f.File))
	row.column().flag(f.Script)
	for _, place := range [...]int32{f.Column, f.Start, f.StartColumn} {
		row.column().id(place)
	}
	row.end(1)
}

// bits is a set of numbers above 0; setting 0 has no effect.
type bits []uint64

func newBits(max int) bits    { return make(bits, max/64+1) }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }

// rising visits the numbers in ascending order, skipping quickly over gaps.
func (b bits) rising(visit func(i int)) {
	for w, word := range b {
		for i := 64 * w; word != 0; i, word = i+1, word>>1 {
			if word&1 != 0 && i > 0 {
				visit(i)
			}
		}
	}
}

// falling is rising in descending order. visit may set lower numbers, which are visited, too.
func (b bits) falling(visit func(i int)) {
	for w := len(b) - 1; w >= 0; w-- {
		for i := 64*w + 63; i >= 64*w && b[w] != 0; i-- {
			if b.has(i) && i > 0 {
				visit(i)
			}
		}
	}
}
