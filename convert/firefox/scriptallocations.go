package firefox

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/spill"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// scriptAllocationType is the type of markers that the viewer makes a table of, when it
// reads a Gecko profile: of objects that scripts allocated.
const scriptAllocationType = "JS allocation"

// The columns of that table that are members of the markers' payloads, and what
// these are called.
var (
	scriptNumbers = []allocationColumn{{"weight", "size"}, {"inNursery", "inNursery"}}
	scriptTexts   = []allocationColumn{{"className", "className"}, {"typeName", "typeName"}, {"coarseType", "coarseType"}}
)

type allocationColumn struct{ key, field string }

// scriptAllocations are those of the thread being written.
type scriptAllocations struct {
	rows    int64
	time    column
	stack   column
	numbers []column
	texts   []column     // places in names
	names   viewer.Texts // of classes and types
}

func (a *scriptAllocations) allocate(f *spill.File) {
	a.time, a.stack = newColumn(f), newColumn(f)
	for range scriptNumbers {
		a.numbers = append(a.numbers, newColumn(f))
	}
	for range scriptTexts {
		a.texts = append(a.texts, newColumn(f))
	}
	a.names.Reset()
}

// isScriptAllocations reports whether all markers of a batch have what the table
// needs: a time at which they begin, and a size.
func isScriptAllocations(e *stream.Event, b *stream.Batch) bool {
	size := argument(e, scriptNumbers[0].field)
	if e.Type != scriptAllocationType || size < 0 {
		return false
	}
	for i, phase := range b.Phase {
		if phase == stream.PhaseEnd || b.Args[size].TypeAt(i) != stream.Int {
			return false
		}
	}
	return true
}

// argument is the place of a field of an event, -1 if it has none of that name.
func argument(e *stream.Event, name string) int {
	for i := range e.Fields {
		if e.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// scriptAllocations keeps rows until the markers are written. Other fields than those
// of the table have no place.
func (s *Sink) scriptAllocations(e *stream.Event, b *stream.Batch) {
	a := &s.thread.scripts
	for i, at := range b.Time {
		a.time.add(s.ms(at))
		if b.Stack[i] == 0 {
			a.stack.add(none)
		} else {
			a.stack.add(int64(b.Stack[i] - 1))
		}
		for k, c := range scriptNumbers {
			a.numbers[k].add(numberAt(b, argument(e, c.field), i))
		}
		for k, c := range scriptTexts {
			a.texts[k].add(a.nameAt(b, argument(e, c.field), i))
		}
	}
	a.rows += int64(b.Len())
	a.flush()
	if more := len(e.Fields) - a.placed(e); more > 0 {
		s.lost.Lose(s.walk.Process, "fields of allocations", int64(more*b.Len()))
	}
}

// placed is how many fields of an event the table has.
func (a *scriptAllocations) placed(e *stream.Event) (n int) {
	for _, list := range [][]allocationColumn{scriptNumbers, scriptTexts} {
		for _, c := range list {
			if argument(e, c.field) >= 0 {
				n++
			}
		}
	}
	return n
}

func (a *scriptAllocations) flush() {
	a.time.flush()
	a.stack.flush()
	for _, list := range [][]column{a.numbers, a.texts} {
		for k := range list {
			list[k].flush()
		}
	}
}

// numberAt is an argument of row i, none if it is no integer.
func numberAt(b *stream.Batch, arg, i int) int64 {
	if arg < 0 || b.Args[arg].TypeAt(i) != stream.Int {
		return none
	}
	return int64(b.Args[arg].BitsAt(i))
}

// nameAt is the place of an argument of row i among the names, none if it is no text.
func (a *scriptAllocations) nameAt(b *stream.Batch, arg, i int) int64 {
	if arg < 0 || b.Args[arg].TypeAt(i) != stream.Text {
		return none
	}
	return int64(a.names.InternBytes(b.Args[arg].TextAt(i)))
}

// endScriptAllocations writes the table.
func (s *Sink) endScriptAllocations() {
	a := &s.thread.scripts
	if a.rows == 0 {
		return
	}
	s.out.Key("jsAllocations")
	s.out.BeginObject()
	s.writeColumn("time", &a.time, pipeline.Numbers, jsontext.AppendMillis)
	for k, c := range scriptNumbers {
		form := appendInt
		if c.key == "inNursery" {
			form = appendBool
		}
		s.writeColumn(c.key, &a.numbers[k], pipeline.Numbers, form)
	}
	s.out.Member("weightType", "bytes")
	names := a.names.List()
	for k, c := range scriptTexts {
		s.writeColumn(c.key, &a.texts[k], pipeline.Text, func(dst []byte, n int64) []byte { return jsontext.AppendString(dst, names[n]) })
	}
	s.writeColumn("stack", &a.stack, pipeline.Numbers, appendInt)
	s.out.Number("length", a.rows)
	s.out.EndObject()
}

func appendBool(dst []byte, n int64) []byte {
	if n == 0 {
		return append(dst, "false"...)
	}
	return append(dst, "true"...)
}
