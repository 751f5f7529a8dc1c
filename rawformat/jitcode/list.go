package jitcode

import (
	"cmp"
	"container/heap"
	"slices"
	"sort"
)

// Function is a function that a program has made.
type Function struct {
	Start, Size uint64 // its addresses
	Name        string
	Lines       []Line // by offset; nil: unknown
}

// Line is where the code from an offset in a function on is in a source.
type Line struct {
	Offset uint64
	File   string
	Line   int32
}

// Bounds of a list: programs that run for days list millions of functions.
const (
	MaxFunctions = 1 << 21
	MaxBytes     = 512 << 20
)

// List is functions by address. It is not for concurrent use.
type List struct {
	all   []Function
	parts []part // of all, by address; nil: there are new ones
	bytes int64
}

// part is a range of addresses that one function has.
type part struct {
	start, end uint64
	function   int32
}

// Add adds a function that was made after all others. False: the list is full.
func (l *List) Add(f Function) bool {
	if len(l.all) == MaxFunctions || l.bytes > MaxBytes {
		return false
	}
	if f.Size == 0 || f.Start+f.Size < f.Start || f.Name == "" {
		return true
	}
	const each = 64
	l.all, l.parts = append(l.all, f), nil
	l.bytes += int64(each + len(f.Name) + 40*len(f.Lines))
	return true
}

// Len is how many functions there are.
func (l *List) Len() int { return len(l.all) }

// Size is the approximate memory in bytes.
func (l *List) Size() int64 { return l.bytes + 24*int64(len(l.parts)) }

// At returns the function at an address.
func (l *List) At(address uint64) (f *Function, ok bool) {
	if l.parts == nil {
		l.divide()
	}
	i := sort.Search(len(l.parts), func(i int) bool { return l.parts[i].start > address }) - 1
	if i < 0 || address >= l.parts[i].end {
		return nil, false
	}
	return &l.all[l.parts[i].function], true
}

// Place returns the line of an address in a function.
func (f *Function) Place(address uint64) (file string, line int32) {
	i := sort.Search(len(f.Lines), func(i int) bool { return f.Lines[i].Offset > address-f.Start }) - 1
	if i < 0 {
		return "", 0
	}
	return f.Lines[i].File, f.Lines[i].Line
}

// divide divides the addresses among the functions: of those that overlap the latest has them.
//
//  1. Sort where functions begin and end.
//  2. Go up the addresses, with those that have begun in a heap, the latest on top.
//  3. Between two borders the top has the addresses, once those that have ended are off it.
func (l *List) divide() {
	order := make([]int32, len(l.all))
	borders := make([]uint64, 0, 2*len(l.all))
	for i := range l.all {
		order[i] = int32(i)
		borders = append(borders, l.all[i].Start, l.all[i].Start+l.all[i].Size)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(l.all[a].Start, l.all[b].Start) })
	slices.Sort(borders)
	l.parts = make([]part, 0, len(l.all))
	begun := &latest{}
	for i, at := range borders {
		for len(order) > 0 && l.all[order[0]].Start <= at {
			heap.Push(begun, order[0])
			order = order[1:]
		}
		for begun.Len() > 0 && l.end((*begun)[0]) <= at {
			heap.Pop(begun)
		}
		if begun.Len() > 0 && borders[i+1] > at {
			l.extend(part{at, borders[i+1], (*begun)[0]})
		}
	}
}

func (l *List) end(i int32) uint64 { return l.all[i].Start + l.all[i].Size }

// extend adds a part, joined with the last one if that is of the same function.
func (l *List) extend(p part) {
	if n := len(l.parts); n > 0 && l.parts[n-1].function == p.function && l.parts[n-1].end == p.start {
		l.parts[n-1].end = p.end
		return
	}
	l.parts = append(l.parts, p)
}

// latest is a heap of functions.
type latest []int32

func (h latest) Len() int           { return len(h) }
func (h latest) Less(i, j int) bool { return h[i] > h[j] }
func (h latest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *latest) Push(x any)        { *h = append(*h, x.(int32)) }
func (h *latest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
