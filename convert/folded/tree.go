package folded

import (
	"cmp"
	"slices"
	"unsafe"

	"gprof/stream"
)

// tree is the stacks by names only. A node's number is its rank in the order of names, from the
// root on; 0 is the empty stack.
type tree struct {
	texts  []string // in order
	nodes  []node
	nodeOf []int32 // by StackID
}

type node struct {
	caller int32
	text   int32 // in texts
}

// rowBytes is the memory of the tree and its texts, of sums by its nodes, and of what is known of a track.
var rowBytes = stream.RowBytes{Stack: stream.MergedStack + 4 + 4*4 + 8 + 4 + 8, Frame: 2*16 + 4, Track: int64(unsafe.Sizeof(track{}))}

// build makes the tree.
//
//  1. Each frame gets a text, and each text a number that sorts it.
//  2. Stacks are merged by (caller, text).
//  3. Nodes are numbered from the root on, callees by text.
func (t *tree) build(tables *stream.Tables) {
	texts := t.textsOf(tables)
	var merged stream.Tables // its FrameIDs are texts
	t.nodeOf = make([]int32, tables.Stacks.Len()+1)
	for id := stream.StackID(1); int(id) <= tables.Stacks.Len(); id++ {
		caller, frame := tables.Stacks.At(id)
		t.nodeOf[id] = int32(merged.Stacks.Intern(stream.StackID(t.nodeOf[caller]), texts[frame]))
	}
	place := t.layOut(&merged)
	for id, to := range t.nodeOf {
		t.nodeOf[id] = place[to]
	}
}

// textsOf makes the sorted list of texts, and returns that of each frame.
func (t *tree) textsOf(tables *stream.Tables) []stream.FrameID {
	n := tables.Frames.Len()
	all := make([]string, n+1)
	for id := 1; id <= n; id++ {
		all[id] = nameOf(tables, tables.Frames.At(stream.FrameID(id)))
	}
	t.texts = slices.Clone(all)
	slices.Sort(t.texts)
	t.texts = slices.Compact(t.texts)
	of := make([]stream.FrameID, n+1)
	for id, text := range all {
		at, _ := slices.BinarySearch(t.texts, text)
		of[id] = stream.FrameID(at)
	}
	return of
}

// layOut makes the nodes, and returns the number of each merged stack.
func (t *tree) layOut(merged *stream.Tables) (place []int32) {
	first, next := callees(merged)
	place = make([]int32, len(first))
	t.nodes = make([]node, 1, len(first))
	for at := first[0]; at != 0; {
		caller, text := merged.Stacks.At(at)
		place[at] = int32(len(t.nodes))
		t.nodes = append(t.nodes, node{place[caller], int32(text)})
		if first[at] != 0 {
			at = first[at]
			continue
		}
		for at != 0 && next[at] == 0 {
			at, _ = merged.Stacks.At(at)
		}
		at = next[at]
	}
	return place
}

// callees returns the first callee of each stack by text, and the next one of its caller.
func callees(merged *stream.Tables) (first, next []stream.StackID) {
	n := merged.Stacks.Len()
	order := make([]stream.StackID, n)
	for i := range order {
		order[i] = stream.StackID(i + 1)
	}
	slices.SortFunc(order, func(a, b stream.StackID) int {
		_, x := merged.Stacks.At(a)
		_, y := merged.Stacks.At(b)
		return cmp.Compare(y, x) // the last is put in front
	})
	first, next = make([]stream.StackID, n+1), make([]stream.StackID, n+1)
	for _, id := range order {
		caller, _ := merged.Stacks.At(id)
		next[id], first[caller] = first[caller], id
	}
	return first, next
}

// maxNames bounds the names of a line, the innermost ones: each depth of a recursion may be a line,
// so all would be the square of the depth.
const maxNames = 4096

// names appends the names of a node's stack, leaf first, and reports whether there are more.
func (t *tree) names(dst []string, n int32) (names []string, cut bool) {
	for ; n != 0 && len(dst) < maxNames; n = t.nodes[n].caller {
		dst = append(dst, t.texts[t.nodes[n].text])
	}
	return dst, n != 0
}
