// Package flame is the common part of all drawings of a flame graph: the call tree of a
// run, its colours, and the caption.
//
// A frame of a flame graph is a function. Places in one function of one module are
// merged, and so are stacks that differ only in such places.
package flame

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"
	"unsafe"

	"gprof/stream"
)

// Frame is one function.
type Frame struct {
	Name     string
	Short    string // Name without the path of its package, for small boxes
	Tint     int    // 0 to 3, by name, to distinguish neighbours of one color
	Package  string // of a Go function, else the module; "" for a label
	Module   string
	File     string // the first known one
	Category stream.Category
}

// Tree is all stacks of a run as a tree. Nodes are numbered from 1; 0 is the root, which is no
// function. Parents have lower numbers.
type Tree struct {
	Frames []Frame // from 1
	Parent []int32 // by node
	Frame  []int32 // index in Frames by node; 0 for the root

	nodes []int32 // by StackID
}

// rowBytes is the memory of the tree, and of sums by its nodes.
var rowBytes = stream.RowBytes{Stack: stream.MergedStack + 4 + 2*4 + 2*8 + 8, Frame: stream.MergedFrame + int64(unsafe.Sizeof(Frame{}))}

// NewTree makes the tree of all stacks of t, if it fits.
func NewTree(t *stream.Tables) (*Tree, error) {
	if err := t.Reserve(rowBytes.In(t)); err != nil {
		return nil, err
	}
	var merged stream.Tables // Frames and Stacks alone
	tree := &Tree{Frames: make([]Frame, 1), nodes: make([]int32, t.Stacks.Len()+1)}
	frames := tree.mergeFrames(t, &merged)
	for id := stream.StackID(1); int(id) <= t.Stacks.Len(); id++ {
		parent, frame := t.Stacks.At(id)
		tree.nodes[id] = int32(merged.Stacks.Intern(stream.StackID(tree.nodes[parent]), frames[frame]))
	}
	tree.Parent = make([]int32, merged.Stacks.Len()+1)
	tree.Frame = make([]int32, len(tree.Parent))
	for id := stream.StackID(1); int(id) < len(tree.Parent); id++ {
		parent, frame := merged.Stacks.At(id)
		tree.Parent[id], tree.Frame[id] = int32(parent), int32(frame)
	}
	return tree, nil
}

// mergeFrames fills Frames and returns the index for each frame of t.
func (tree *Tree) mergeFrames(t, merged *stream.Tables) []stream.FrameID {
	frames := make([]stream.FrameID, t.Frames.Len()+1)
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		frames[id] = merged.Frames.Intern(merge(f))
		if int(frames[id]) == len(tree.Frames) {
			tree.Frames = append(tree.Frames, frameOf(t, f))
		}
		if to := &tree.Frames[frames[id]]; to.File == "" && f.File != 0 {
			to.File = Cut(t.Strings.At(f.File))
		}
	}
	return frames
}

// merge returns what identifies a function.
func merge(f stream.Frame) stream.Frame {
	out := stream.Frame{Module: f.Module, Function: f.Function, Category: f.Category, Label: f.Label}
	switch {
	case f.Function == 0:
		out.Offset = f.Offset
	case f.Script:
		out.Script, out.File, out.Start, out.StartColumn = true, f.File, f.Start, f.StartColumn
	}
	return out
}

func frameOf(t *stream.Tables, f stream.Frame) Frame {
	out := Frame{Category: stream.Other}
	if f.Category != 0 {
		out.Category = t.Categories.At(f.Category)
	}
	if f.Module != 0 {
		out.Module = Cut(t.Modules.At(f.Module).Name)
	}
	if f.Function == 0 {
		out.Name, out.Package = fmt.Sprintf("%s+0x%x", out.Module, f.Offset), out.Module
	} else {
		out.Name = Cut(t.Strings.At(f.Function))
	}
	out.Short = out.Name
	if f.Function != 0 && !f.Label {
		out.Package, out.Short = splitName(out.Name, out.Module)
	}
	out.Tint = int(hash(out.Name) % 4)
	return out
}

// maxName bounds a name in bytes: a longer one is unreadable in a box, and takes long to
// measure letter by letter.
const maxName = 2000

// Cut cuts a name that is too long, between two characters.
func Cut(name string) string {
	if len(name) <= maxName {
		return name
	}
	end := maxName
	for end > 0 && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + "…"
}

// Color is that of a frame, "#rrggbb": of its category or, if all are of one, of its package.
func (tree *Tree) Color(f *Frame) string {
	if f.Package != "" && tree.oneCategory() {
		return PackageHex(f.Package)
	}
	return CategoryHex(f.Category.Color)
}

// oneCategory reports whether all functions are of one category, so that only packages
// can tell them apart.
func (tree *Tree) oneCategory() bool {
	for i := 2; i < len(tree.Frames); i++ {
		if tree.Frames[i].Category != tree.Frames[1].Category {
			return false
		}
	}
	return true
}

// Node is the node of a stack, the root for none.
func (tree *Tree) Node(id stream.StackID) int32 { return tree.nodes[id] }

// Totals returns the weight of each node with all callees, given its own weight.
func (tree *Tree) Totals(self []int64) []int64 {
	totals := append([]int64(nil), self...)
	for node := len(totals) - 1; node > 0; node-- {
		totals[tree.Parent[node]] = stream.Plus(totals[tree.Parent[node]], totals[node])
	}
	return totals
}

// box is a node's place in a graph; left and width are in the unit of weights.
type box struct {
	node        int32
	depth       int32 // 0 is the root
	left, width int64
}

// boxes returns the places of the nodes that weigh at least least, each after its parent, with
// heavy ones on the left. It leaves out those from row rows on, and returns the deepest row. totals
// are those of [Tree.Totals].
func (tree *Tree) boxes(totals []int64, least int64, rows int) (boxes []box, deepest int) {
	children, deepest := tree.Children(totals, max(least, 1), rows)
	boxes = []box{{width: totals[0]}}
	for i := 0; i < len(boxes); i++ { // grows while it is read
		at := boxes[i]
		left := at.left
		for _, child := range children[at.node] {
			boxes = append(boxes, box{node: child, depth: at.depth + 1, left: left, width: totals[child]})
			left += totals[child]
		}
	}
	return boxes, deepest
}

// Children lists the shown callees of each node, the heaviest first.
func (tree *Tree) Children(totals []int64, least int64, rows int) (out map[int32][]int32, deepest int) {
	out = make(map[int32][]int32)
	depths := make([]int32, len(tree.Parent))
	for node := int32(1); int(node) < len(tree.Parent); node++ {
		if totals[node] < least {
			continue
		}
		parent := tree.Parent[node]
		depths[node] = depths[parent] + 1
		deepest = max(deepest, int(depths[node]))
		if int(depths[node]) < rows {
			out[parent] = append(out[parent], node)
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b int32) int {
			return cmp.Or(cmp.Compare(totals[b], totals[a]), cmp.Compare(tree.name(a), tree.name(b)), cmp.Compare(a, b))
		})
	}
	return out, deepest
}

func (tree *Tree) name(node int32) string { return tree.Frames[tree.Frame[node]].Name }
