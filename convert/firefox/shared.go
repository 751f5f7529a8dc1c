package firefox

import (
	"cmp"
	"math"
	"strconv"

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
	s.out.Key(key)
	s.out.BeginObject()
	s.out.Number("length", int64(n))
	for _, c := range columns {
		s.out.Key(c.key)
		s.out.BeginArray()
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

// writeShared writes what all threads refer to. Strings come last: the markers
// of all of them are known now.
func (s *Sink) writeShared() {
	s.out.Key("shared")
	s.out.BeginObject()
	s.writeStacks()
	s.writeFrames()
	s.writeFuncs()
	none := constant("null")
	s.writeTable("nativeSymbols", 0, tableColumn{"libIndex", none}, tableColumn{"address", none}, tableColumn{"name", none}, tableColumn{"functionSize", none})
	s.writeTable("sourceLocationTable", 0, tableColumn{"source", none}, tableColumn{"line", none}, tableColumn{"column", none})
	s.out.Key("stringArray")
	s.out.BeginArray()
	s.out.Texts(s.texts.List())
	s.out.EndArray()
	s.out.EndObject()
}

// writeStacks writes each stack by its frame and how far before it its caller
// stands, 0 for none.
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
		tableColumn{"nativeSymbol", constant("null")},
		tableColumn{"innerWindowID", numbers(func(i int) int64 { return at(i).Window }, "0")},
		tableColumn{"line", numbers(func(i int) int64 { return place(at(i).Line) }, "null")},
		tableColumn{"column", numbers(func(i int) int64 { return place(at(i).Column) }, "null")},
		tableColumn{"originalLocation", constant("null")})
}

// address is that of a frame in its module, -1 for none and for those that the
// format has no room for.
func address(f stream.Frame) int64 {
	if f.Module == 0 || f.Label || f.Offset > math.MaxInt32 {
		return -1
	}
	return int64(f.Offset)
}

// place is a line or a column, -1 if it is not known.
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

// writeResources writes what functions lie in: the modules, and behind them where
// scripts come from.
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

// writeLibs writes the modules, to which frames refer by their place.
func (s *Sink) writeLibs() {
	s.out.Key("libs")
	s.out.BeginArray()
	for id := stream.ModuleID(1); int(id) <= s.tables.Modules.Len(); id++ {
		s.writeLib(s.tables.Modules.At(id))
	}
	s.out.EndArray()
}

func (s *Sink) writeLib(m stream.Module) {
	path := cmp.Or(m.Path, m.Name)
	s.out.BeginObject()
	for _, x := range []struct{ key, value string }{
		{"arch", cmp.Or(m.Arch, viewer.Process(s.tables, 1).Machine())}, {"name", m.Name}, {"path", path}, {"debugName", cmp.Or(m.DebugName, m.Name)}, {"debugPath", cmp.Or(m.DebugPath, path)},
		{"breakpadId", m.BreakpadID()}, {"codeId", m.CodeID()},
	} {
		s.out.Member(x.key, x.value)
	}
	s.out.EndObject()
}
