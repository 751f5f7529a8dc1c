package stream

import (
	"runtime"
	"slices"

	"gprof/dedupe"
)

// stackTree is the table of stacks.
type stackTree = dedupe.Tree[FrameID, StackID]

// stackLevels are the live stacks by depth, and where each level ends.
type stackLevels struct {
	all  []StackID
	ends []int32
	ids  []StackID // room for a result
}

// renumberStacks adds the live stacks of from to to: breadth first, and callees of one
// caller by their final frames. It returns the final ids.
//
//  1. The stacks of each depth become a level, in the order of their old ids: levelsOf.
//  2. A level is put in the order of its callers, whose final ids are consecutive, by a
//     counting sort; then the callees of each are sorted.
//
// Stacks with near ids are near their callers, so memory is accessed in order. Besides
// the result this takes 4 bytes for each stack, and 12 to 16 for each of the largest level.
// With more than one job, both halves of a large level are done at a time.
func renumberStacks(to, from *stackTree, levels stackLevels, frames []FrameID, jobs int) []StackID {
	w := stackWalk{to: to, from: from, frames: frames, ids: levels.ids, jobs: jobs}
	w.children = make([]child, 0, largestLevel(levels))
	begin := int32(0)
	for _, end := range levels.ends {
		w.place(levels.all[begin:end])
		w.number()
		begin = end
	}
	return w.ids
}

// MergeStacks adds the stacks of from to to, which is empty, with other frames, by FrameID, of which several may be one. It
// returns the ids that they have there, by StackID. That takes half the time and memory of interning them.
func MergeStacks(to, from *Tables, frames []FrameID) []StackID {
	return renumberStacks(&to.Stacks, &from.Stacks, levelsOf(&from.Stacks, nil), frames, runtime.GOMAXPROCS(0))
}

// stackWalk is the work of renumberStacks. StackIDs are old ids unless they are said to
// be final; 0 is the caller of the roots.
type stackWalk struct {
	to, from *stackTree
	frames   []FrameID
	jobs     int
	ids      []StackID  // final ids
	above    StackID    // the first final id of the level above
	children []child    // of that level, by caller
	parts    int        // of the level, by one goroutine each
	ends     [2][]int32 // of the children of each caller, by part
}

type child struct {
	frame FrameID // final
	id    StackID
}

// levelsOf needs no final ids of frames. If live is nil, all stacks are.
func levelsOf(from *stackTree, live []bool) stackLevels {
	depths, ends := make([]StackID, from.Len()+1), []int32(nil)
	for id := StackID(1); int(id) <= from.Len(); id++ {
		if live == nil || live[id] {
			caller, _ := from.At(id)
			depth := depths[caller]
			if depths[id] = depth + 1; int(depth) == len(ends) {
				ends = append(ends, 0)
			}
			ends[depth]++
		}
	}
	all := make([]StackID, begins(ends))
	for id := StackID(1); int(id) <= from.Len(); id++ {
		if live == nil || live[id] {
			end := &ends[depths[id]-1]
			all[*end] = id
			*end++
		}
	}
	return stackLevels{all, ends, depths}
}

// largestLevel is how many stacks the largest level has.
func largestLevel(levels stackLevels) (most int) {
	for i, end := range levels.ends {
		most = max(most, int(end-beginOf(levels.ends, i)))
	}
	return most
}

// begins turns lengths of consecutive lists into the places where they begin, and returns
// their sum.
func begins(of []int32) (all int32) {
	for i, n := range of {
		of[i], all = all, all+n
	}
	return all
}

// largeLevel is how many stacks are worth another goroutine.
const largeLevel = 1 << 12

// divide has the work on n things done by the goroutines of a level.
func (w *stackWalk) divide(n int, work func(part, from, to int)) {
	if w.parts == 1 {
		work(0, 0, n)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(1, n/2, n)
	}()
	work(0, 0, n/2)
	<-done
}

// place puts the stacks of a level in the order of their callers.
func (w *stackWalk) place(level []StackID) {
	callers := w.to.Len() + 1 - int(w.above)
	w.children = w.children[:len(level)]
	w.parts = 1
	if w.jobs > 1 && len(level) >= largeLevel {
		w.parts = 2
	}
	w.divide(len(level), func(part, from, to int) {
		ends := slices.Grow(w.ends[part][:0], callers)[:callers]
		clear(ends)
		for _, id := range level[from:to] {
			caller, _ := w.from.At(id)
			at := w.ids[caller] - w.above
			w.ids[id] = at // until it has its own
			ends[at]++
		}
		w.ends[part] = ends
	})
	all := int32(0)
	for i := range callers {
		for _, ends := range w.ends[:w.parts] {
			ends[i], all = all, all+ends[i]
		}
	}
	w.divide(len(level), func(part, from, to int) {
		ends := w.ends[part]
		for _, id := range level[from:to] {
			_, frame := w.from.At(id)
			end := &ends[w.ids[id]]
			w.children[*end] = child{w.frames[frame], id}
			*end++
		}
	})
}

// number gives the stacks of a level their final ids. Stacks of one caller with the same
// final frame become one.
func (w *stackWalk) number() {
	ends := w.ends[w.parts-1]
	var added [2]int // how many there are, by part
	w.divide(len(ends), func(part, from, to int) {
		n, begin := 0, beginOf(ends, from)
		for _, end := range ends[from:to] {
			children := w.children[begin:end]
			if len(children) > 1 {
				slices.SortFunc(children, func(a, b child) int { return int(a.frame) - int(b.frame) })
			}
			for i := range children {
				if newFrame(children, i) {
					n++
				}
			}
			begin = end
		}
		added[part] = n
	})
	above, first := w.above, w.to.Extend(added[0]+added[1])
	w.divide(len(ends), func(part, from, to int) {
		id, begin := first-1, beginOf(ends, from)
		if part > 0 {
			id += StackID(added[0])
		}
		for i, end := range ends[from:to] {
			children := w.children[begin:end]
			for j, c := range children {
				if newFrame(children, j) {
					id++
					w.to.Set(id, above+StackID(from+i), c.frame)
				}
				w.ids[c.id] = id
			}
			begin = end
		}
	})
	w.above = first
}

// beginOf is where the list begins that ends at an end.
func beginOf(ends []int32, i int) int32 {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// newFrame reports whether a child has another frame than the one before it.
func newFrame(children []child, i int) bool {
	return i == 0 || children[i].frame != children[i-1].frame
}
