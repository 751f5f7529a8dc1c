package firefox

import (
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// Extent says which function of the program of a build is around an offset.
type Extent func(build string, offset uint64) (Native, bool)

// Native is a function as it lies in its program.
type Native struct {
	Name        string
	Start, Size uint64
}

// native is a function as the compiler made it, with all that it inlined: what the viewer shows the assembly of.
type native struct {
	module stream.ModuleID
	name   int32 // in the list of strings
	start  uint64
	size   int64 // -1 unknown
}

// nativeKey is what makes it another one: where it begins or, if that is unknown, its name.
type nativeKey struct {
	module stream.ModuleID
	name   stream.StringID
	start  uint64
}

// findNatives finds the native functions that frames are of. Frames of one place follow each other, the outermost
// first: it is the native one.
func (c *code) findNatives(t *stream.Tables, texts *viewer.Texts, extent Extent) {
	c.natives, c.nativeOf = nil, make([]int32, t.Frames.Len()+1)
	known := map[nativeKey]int32{}
	outer, current := stream.Frame{}, int32(-1)
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		c.nativeOf[id] = -1
		f := t.Frames.At(id)
		if address(f) <= 0 {
			continue
		}
		if f.Depth == 0 || f.Module != outer.Module || f.Offset != outer.Offset {
			outer, current = f, c.native(t, texts, known, extent, f)
		}
		c.nativeOf[id] = current
	}
}

// native is the place in the list of the native function of a frame.
func (c *code) native(t *stream.Tables, texts *viewer.Texts, known map[nativeKey]int32, extent Extent, f stream.Frame) int32 {
	key, size := nativeKey{module: f.Module, name: f.Function}, int64(-1)
	start, name := f.Offset, nameOf(t, f)
	if extent != nil {
		if found, ok := extent(t.Modules.At(f.Module).Build, f.Offset); ok {
			key, start, size = nativeKey{module: f.Module, start: found.Start}, found.Start, int64(found.Size)
			if f.Function == 0 {
				name = found.Name
			}
		}
	}
	if key.name == 0 && size < 0 {
		return -1
	}
	n, ok := known[key]
	if !ok {
		n = int32(len(c.natives))
		known[key] = n
		c.natives = append(c.natives, native{f.Module, texts.Intern(name), start, size})
	}
	if one := &c.natives[n]; start < one.start {
		one.start = start
	}
	return n
}

func (s *Sink) writeNatives() {
	natives := s.code.natives
	s.writeTable("nativeSymbols", len(natives),
		tableColumn{"libIndex", numbers(func(i int) int64 { return int64(natives[i].module) - 1 }, "null")},
		tableColumn{"address", numbers(func(i int) int64 { return int64(natives[i].start) }, "null")},
		tableColumn{"name", numbers(func(i int) int64 { return int64(natives[i].name) }, "null")},
		tableColumn{"functionSize", numbers(func(i int) int64 { return natives[i].size }, "null")})
}
