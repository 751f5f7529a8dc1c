package stream

import (
	"slices"

	"gprof/dedupe"
)

// stackTree is the table of stacks.
type stackTree = dedupe.Tree[FrameID, StackID]

// renumberStacks adds the live stacks of from to to, breadth first, the children
// of one stack by their final frames. It returns the final ids.
//
//  1. The children of each stack become a list.
//  2. At each stack's turn its children are sorted and go to the end of the queue
//     of those whose turn comes. What the queue holds is the final order.
//
// Besides the result it takes 8 bytes for each stack: a link, and its place in
// the queue. It is a queue rather than one more list because the stacks are far
// apart in memory: that of the next turn is on its way during this one.
func renumberStacks(to, from *stackTree, live []bool, frames []FrameID) []StackID {
	w := stackWalk{to: to, from: from, frames: frames,
		next: make([]StackID, from.Len()+1), ids: make([]StackID, from.Len()+1)}
	w.queue = make([]StackID, 1, w.list(live)+1)
	for final := 0; final < len(w.queue); final++ {
		w.expand(w.queue[final], StackID(final))
	}
	return w.ids
}

// stackWalk is the work of renumberStacks. Stacks are meant by their old ids; 0
// is the parent of the roots.
type stackWalk struct {
	to, from *stackTree
	frames   []FrameID
	next     []StackID // the next sibling
	ids      []StackID // the first child; from a stack's turn on, its final id
	queue    []StackID // by final id
	children []child   // of the stack whose turn it is
}

type child struct {
	frame FrameID // final
	id    StackID
}

// list makes the lists of children, and returns how many stacks are in them.
func (w *stackWalk) list(live []bool) (n int) {
	for id := StackID(w.from.Len()); id > 0; id-- {
		if live[id] {
			parent, _ := w.from.At(id)
			w.next[id], w.ids[parent] = w.ids[parent], id
			n++
		}
	}
	return n
}

// expand gives a stack its final id and puts its children in order. Those that
// have the same final frame are one.
func (w *stackWalk) expand(old, final StackID) {
	w.children = w.children[:0]
	for id := w.ids[old]; id != 0; id = w.next[id] {
		_, frame := w.from.At(id)
		w.children = append(w.children, child{w.frames[frame], id})
	}
	slices.SortFunc(w.children, func(a, b child) int { return int(a.frame) - int(b.frame) })
	for i, c := range w.children {
		if i > 0 && c.frame == w.children[i-1].frame {
			w.adopt(c.id)
			w.ids[c.id] = StackID(w.to.Len())
			continue
		}
		w.to.Append(final, c.frame)
		w.queue = append(w.queue, c.id)
	}
	w.ids[old] = final
}

// adopt gives the last stack in the queue the children of another.
func (w *stackWalk) adopt(from StackID) {
	last := w.queue[len(w.queue)-1]
	for id := w.ids[from]; id != 0; {
		id, w.next[id], w.ids[last] = w.next[id], w.ids[last], id
	}
}
