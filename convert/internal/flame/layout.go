package flame

import (
	"cmp"
	"slices"
)

// Box is a node's place in a graph: Left and Width are in the unit of weights.
type Box struct {
	Node        int32
	Depth       int32 // 0 is the root
	Left, Width int64
}

// Boxes returns the places of the nodes that weigh at least least, each behind its
// parent: what is heavy is on the left. It leaves out those in row rows and below,
// and returns in which row the deepest is. totals are those of [Tree.Totals].
func (tree *Tree) Boxes(totals []int64, least int64, rows int) (boxes []Box, deepest int) {
	children, deepest := tree.children(totals, max(least, 1), rows)
	boxes = []Box{{Width: totals[0]}}
	for i := 0; i < len(boxes); i++ { // grows while it is read
		at := boxes[i]
		left := at.Left
		for _, child := range children[at.Node] {
			boxes = append(boxes, Box{Node: child, Depth: at.Depth + 1, Left: left, Width: totals[child]})
			left += totals[child]
		}
	}
	return boxes, deepest
}

// children lists what each node called, the heaviest first, as far as it is shown.
func (tree *Tree) children(totals []int64, least int64, rows int) (out map[int32][]int32, deepest int) {
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
