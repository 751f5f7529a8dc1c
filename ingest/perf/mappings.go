package perf

import "slices"

// mappings finds which of many mappings was the last to cover an address. A program whose machine code is
// made while it runs may have a mapping for each of its functions.
//
// It is a segment tree: its leaves are the ranges between the beginnings and ends of mappings, and each mapping
// is listed at the few nodes that make up its range.
type mappings struct {
	bounds []uint64 // of the leaves, ascending
	begins []int32  // of the list of each node in listed
	listed []int32  // positions of mappings, ascending in each list
	execs  []int32  // positions of execs
}

// fewMappings are gone through one by one.
const fewMappings = 64

func newMappings(maps []mapping) *mappings {
	x := &mappings{}
	for i := range maps {
		if m := &maps[i]; m.file < 0 {
			x.execs = append(x.execs, int32(i))
		} else if m.start < m.end {
			x.bounds = append(x.bounds, m.start, m.end)
		}
	}
	slices.Sort(x.bounds)
	x.bounds = slices.Clip(slices.Compact(x.bounds))
	x.begins = make([]int32, 2*len(x.bounds)+1)
	for i := range maps {
		x.nodes(&maps[i], func(node int) { x.begins[node+1]++ })
	}
	for i := range x.begins[1:] {
		x.begins[i+1] += x.begins[i]
	}
	x.listed = make([]int32, x.begins[len(x.begins)-1])
	filled := slices.Clone(x.begins)
	for i := range maps {
		x.nodes(&maps[i], func(node int) {
			x.listed[filled[node]] = int32(i)
			filled[node]++
		})
	}
	return x
}

// nodes are those that make up the range of a mapping.
func (x *mappings) nodes(m *mapping, each func(node int)) {
	if m.file < 0 || m.start >= m.end {
		return
	}
	from, _ := slices.BinarySearch(x.bounds, m.start)
	to, _ := slices.BinarySearch(x.bounds, m.end)
	for from, to = from+len(x.bounds), to+len(x.bounds); from < to; from, to = from/2, to/2 {
		if from&1 == 1 {
			each(from)
			from++
		}
		if to&1 == 1 {
			to--
			each(to)
		}
	}
}

// last is [process.last].
func (x *mappings) last(version int, address uint64) int {
	last := int32(-1)
	if i, _ := slices.BinarySearch(x.execs, int32(version)); i > 0 {
		last = x.execs[i-1]
	}
	leaf, ok := slices.BinarySearch(x.bounds, address)
	if !ok {
		leaf--
	}
	for node := leaf + len(x.bounds); leaf >= 0 && node > 0; node /= 2 {
		list := x.listed[x.begins[node]:x.begins[node+1]]
		if i, _ := slices.BinarySearch(list, int32(version)); i > 0 {
			last = max(last, list[i-1])
		}
	}
	return int(last)
}
