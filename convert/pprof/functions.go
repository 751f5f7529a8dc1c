package pprof

import "gprof/stream"

// functions numbers functions, from 1.
type functions struct {
	numbers map[function]uint64
	list    []function // by number-1
}

// function is what makes one: two of a name may lie in different files.
type function struct{ name, file stream.StringID }

func (t *functions) number(f function) uint64 {
	if n, ok := t.numbers[f]; ok {
		return n
	}
	if t.numbers == nil {
		t.numbers = make(map[function]uint64)
	}
	t.list = append(t.list, f)
	n := uint64(len(t.list))
	t.numbers[f] = n
	return n
}
