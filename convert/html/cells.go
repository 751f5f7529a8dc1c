package html

import (
	"cmp"
	"slices"

	"gprof/convert/internal/flame"
)

const (
	// maxCells is how many numbers there are for samples: three megabytes or so
	// of the page.
	maxCells = 1 << 19
	// maxNodes bounds the nodes of the tree on a page. More can't be drawn.
	maxNodes = 1 << 16
	// fewGroups is how far slots are put together before nodes are cut off, and
	// nodesOfGroup what is left of both after that: as many of these as of those.
	fewGroups    = 64
	nodesOfGroup = 512
)

// limits are how much there may be.
type limits struct{ cells, nodes int }

// cell counts samples of one track and group of slots at one node.
type cell struct {
	track, group, node int32
	weight             int64
}

func (c *cell) where(o *cell) int {
	return cmp.Or(cmp.Compare(c.track, o.track), cmp.Compare(c.group, o.group), cmp.Compare(c.node, o.node))
}

// cells counts samples in a bounded number of cells. When they are full,
//
//  1. groups of slots are doubled, while there are many;
//  2. then the lightest nodes are cut off the tree, down to maxNodes;
//  3. then that number is halved, and groups are doubled, in turn.
//
// Samples of cut nodes count at their nearest remaining caller.
type cells struct {
	tree  *flame.Tree
	list  []cell
	most  int
	nodes int     // how many the tree may have
	shift uint    // 1<<shift slots are a group
	at    []int32 // by node: where in list it may be
	open  int     // beginning in list of the current track and group
	cut   []bool  // by node: samples at it were moved to a caller
}

func newCells(tree *flame.Tree, most limits) cells {
	return cells{tree: tree, most: most.cells, nodes: most.nodes, at: make([]int32, len(tree.Parent)), cut: make([]bool, len(tree.Parent))}
}

// add counts samples. Those of one track are consecutive, with ascending slots.
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

// shrink frees a quarter of the room.
func (c *cells) shrink() {
	enough := c.most / 4 * 3
	for len(c.list) > enough && slots>>c.shift > fewGroups {
		c.regroup()
	}
	for len(c.list) > enough {
		if c.prune(); len(c.list) <= enough {
			return
		}
		switch groups := slots >> c.shift; {
		case groups > 1 && c.nodes <= groups*nodesOfGroup:
			c.regroup()
		case c.nodes > 0:
			c.nodes /= 2
		default: // one cell for each track: there is no more to give up
			c.most = 2 * len(c.list)
			return
		}
	}
}

// regroup doubles the groups.
func (c *cells) regroup() {
	c.shift++
	for i := range c.list {
		c.list[i].group >>= 1
	}
	c.merge()
}

// prune moves the samples of all but the heaviest nodes to their callers.
func (c *cells) prune() {
	totals := c.totals()
	totals[0] = 0 // the root needs no place
	keep := heaviest(totals, c.nodes)
	// A caller weighs no less than what it called, and has a lower number: it
	// stays if that does.
	home := make([]int32, len(totals)) // by node; the root is its own
	for node := int32(1); int(node) < len(home); node++ {
		if home[node] = node; !keep[node] {
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

// heaviest selects the heaviest ones, at most that many, and none without weight. Of equals the
// first stay.
func heaviest(weights []int64, most int) []bool {
	var order []int
	for i, weight := range weights {
		if weight > 0 {
			order = append(order, i)
		}
	}
	if len(order) > most {
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b)) })
		order = order[:most]
	}
	keep := make([]bool, len(weights))
	for _, i := range order {
		keep[i] = true
	}
	return keep
}

// moveTracks merges the tracks that are not kept into track 0.
func (c *cells) moveTracks(keep []bool) {
	for i := range c.list {
		if !keep[c.list[i].track] {
			c.list[i].track = 0
		}
	}
	c.merge()
}

// totals is the weight of each node with all callees.
func (c *cells) totals() []int64 {
	self := make([]int64, len(c.tree.Parent))
	for i := range c.list {
		self[c.list[i].node] += c.list[i].weight
	}
	return c.tree.Totals(self)
}

// merge sorts cells and merges those at one place.
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

// finish cuts what exceeds the limits, and sorts the cells.
func (c *cells) finish() { c.prune() }

// cutNodes is how many nodes with samples were cut.
func (c *cells) cutNodes() (n int64) {
	for _, cut := range c.cut {
		if cut {
			n++
		}
	}
	return n
}
