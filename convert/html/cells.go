package html

import (
	"cmp"
	"slices"

	"gprof/convert/internal/flame"
)

const (
	// maxCells is how many numbers there are for samples: two megabytes or so of
	// the page.
	maxCells = 1 << 18
	// maxNodes is how many nodes of the tree a page has. More can't be drawn.
	maxNodes = 1 << 16
	// fewGroups and fewNodes are how far the one is given up before the other.
	fewGroups = 64
	fewNodes  = 1 << 12
)

// cell counts samples: those of one track, in one group of slots, at one node.
type cell struct {
	track, group, node int32
	weight             int64
}

func (c *cell) where(o *cell) int {
	return cmp.Or(cmp.Compare(c.track, o.track), cmp.Compare(c.group, o.group), cmp.Compare(c.node, o.node))
}

// cells counts samples in no more than a number of cells. When they are full,
//
//  1. groups of slots are doubled, while many are left;
//  2. then the nodes that weigh least are cut off the tree, which leaves half of
//     as many as it may have, while many are left;
//  3. then groups are doubled down to one, and nodes cut off down to none.
//
// What is cut off counts at the nearest caller that is left. It may come again:
// then that is counted on its own, as far as there is room.
type cells struct {
	tree  *flame.Tree
	list  []cell
	most  int
	nodes int     // how many the tree may have
	shift uint    // 1<<shift slots are a group
	at    []int32 // by node: where in list it may be
	open  int     // where in list the present track and group begin
	cut   []bool  // by node: samples at it were moved to a caller
}

func newCells(tree *flame.Tree, most, nodes int) cells {
	return cells{tree: tree, most: most, nodes: nodes, at: make([]int32, len(tree.Parent)), cut: make([]bool, len(tree.Parent))}
}

// add counts samples. Those of one track come one after the other, their slots
// never falling.
func (c *cells) add(track int32, slot int, node int32, weight int64) {
	group := int32(slot >> c.shift)
	if n := len(c.list); n > 0 && (c.list[n-1].track != track || c.list[n-1].group != group) {
		c.open = n
	}
	if i := int(c.at[node]); i >= c.open && i < len(c.list) && c.list[i].node == node {
		c.list[i].weight += weight
		return
	}
	if len(c.list) >= c.most {
		c.shrink()
		c.add(track, slot, node, weight)
		return
	}
	c.at[node] = int32(len(c.list))
	c.list = append(c.list, cell{track, group, node, weight})
}

// shrink halves the list, as the type says. What can't be halved is the number
// of tracks: then the list may grow.
func (c *cells) shrink() {
	for len(c.list) > c.most/2 {
		switch {
		case slots>>c.shift > fewGroups:
			c.shift++
			c.regroup()
		case c.nodes > fewNodes:
			c.nodes /= 2
			c.prune()
		case slots>>c.shift > 1:
			c.shift++
			c.regroup()
		case c.nodes > 0:
			c.nodes /= 2
			c.prune()
		default:
			c.most = 2 * len(c.list)
		}
	}
}

// regroup doubles the groups.
func (c *cells) regroup() {
	for i := range c.list {
		c.list[i].group >>= 1
	}
	c.merge()
}

// prune moves the samples of all but the heaviest nodes to their callers.
func (c *cells) prune() {
	totals := c.totals()
	order := make([]int32, 0, len(totals))
	for node := int32(1); int(node) < len(totals); node++ {
		if totals[node] > 0 {
			order = append(order, node)
		}
	}
	if len(order) <= c.nodes {
		return
	}
	// A caller weighs no less than what it called, and has a lower number: it
	// stays if that does.
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(totals[b], totals[a]), cmp.Compare(a, b)) })
	home := make([]int32, len(totals)) // by node; the root is its own
	for _, node := range order[:c.nodes] {
		home[node] = node
	}
	for node := int32(1); int(node) < len(home); node++ {
		if home[node] == 0 {
			home[node] = home[c.tree.Parent[node]]
		}
	}
	for i := range c.list {
		if to := home[c.list[i].node]; to != c.list[i].node {
			c.cut[c.list[i].node] = true
			c.list[i].node = to
		}
	}
	c.merge()
}

// totals is how much each node and all that it called weigh.
func (c *cells) totals() []int64 {
	self := make([]int64, len(c.tree.Parent))
	for i := range c.list {
		self[c.list[i].node] += c.list[i].weight
	}
	return c.tree.Totals(self)
}

// merge makes cells at one place one, in the order of places.
func (c *cells) merge() {
	slices.SortFunc(c.list, func(a, b cell) int { return a.where(&b) })
	kept := c.list[:0]
	c.open = 0
	for _, cell := range c.list {
		last := len(kept) - 1
		switch {
		case last < 0:
		case kept[last].where(&cell) == 0:
			kept[last].weight += cell.weight
			continue
		case kept[last].track != cell.track || kept[last].group != cell.group:
			c.open = len(kept)
		}
		c.at[cell.node] = int32(len(kept))
		kept = append(kept, cell)
	}
	c.list = kept
}

// finish puts the cells into the order of their places, and cuts off what is
// too much.
func (c *cells) finish() {
	c.prune()
	c.merge()
}

// cutNodes is how many nodes had samples that are counted elsewhere now.
func (c *cells) cutNodes() (n int64) {
	for _, cut := range c.cut {
		if cut {
			n++
		}
	}
	return n
}
