package locations

import (
	"iter"

	"gprof/stream"
)

// Functions numbers functions, from 1.
type Functions struct {
	numbers map[Function]uint64
	list    []Function // by number-1
	starts  []int32    // first line by number-1, 0 unknown
}

// Function identifies a function: two of a name may be in different files, and differ in the name
// that a linker knows them by.
type Function struct {
	Name, File stream.StringID
	Linked     string // if IsLinked; else the name
	IsLinked   bool
}

// Number returns the number of a frame's function. It keeps the first line, which not every frame
// has.
func (t *Functions) Number(of *stream.Tables, id stream.FrameID, frame stream.Frame) uint64 {
	f := Function{Name: frame.Function, File: frame.File}
	f.Linked, f.IsLinked = of.LinkName(id)
	if n, ok := t.numbers[f]; ok {
		t.starts[n-1] = max(t.starts[n-1], frame.Start)
		return n
	}
	if t.numbers == nil {
		t.numbers = make(map[Function]uint64)
	}
	t.list = append(t.list, f)
	t.starts = append(t.starts, max(0, frame.Start))
	n := uint64(len(t.list))
	t.numbers[f] = n
	return n
}

// All gives the functions in the order of their numbers, with their first lines, 0 unknown.
func (t *Functions) All() iter.Seq2[Function, int32] {
	return func(yield func(Function, int32) bool) {
		for i, f := range t.list {
			if !yield(f, t.starts[i]) {
				return
			}
		}
	}
}
