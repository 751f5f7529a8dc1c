package pprof

import "gprof/stream"

// functions numbers functions, from 1.
type functions struct {
	numbers map[function]uint64
	list    []function // by number-1
	starts  []int32    // by number-1: the line at which it begins, 0 unknown
}

// function is what makes one: two of a name may lie in different files.
type function struct{ name, file stream.StringID }

// number returns that of a frame's function. Not every frame knows where its
// function begins; one is enough.
func (t *functions) number(frame stream.Frame) uint64 {
	f := function{frame.Function, frame.File}
	if n, ok := t.numbers[f]; ok {
		t.starts[n-1] = max(t.starts[n-1], frame.Start)
		return n
	}
	if t.numbers == nil {
		t.numbers = make(map[function]uint64)
	}
	t.list = append(t.list, f)
	t.starts = append(t.starts, max(0, frame.Start))
	n := uint64(len(t.list))
	t.numbers[f] = n
	return n
}
