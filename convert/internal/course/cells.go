package course

import (
	"cmp"
	"slices"

	"gprof/convert/internal/flame"
	"gprof/stream"
)

const (
	// MaxCells is how many numbers there are for samples: three megabytes or so
	// of the page.
	MaxCells = 1 << 19
	// MaxNodes bounds the nodes of the tree on a page. More can't be drawn.
	MaxNodes = 1 << 16
	// fewGroups is how far slots are put together before nodes are cut off, and
	// nodesOfGroup what is left of both after that: as many of these as of those.
	fewGroups    = 64
	nodesOfGroup = 512
)

// Limits are how much there may be.
type Limits struct{ Cells, Nodes int }

// Cell counts samples of one track and group of slots at one node.
type Cell struct {
	Track, Group, Node int32 // of slots; of the tree
	Weight             int64
}

func (c *Cell) where(o *Cell) int {
	return cmp.Or(cmp.Compare(c.Track, o.Track), cmp.Compare(c.Group, o.Group), cmp.Compare(c.Node, o.Node))
}

// Cells counts samples in a bounded number of cells. When they are full,
//
//  1. groups of slots are doubled, while there are many;
//  2. then the lightest nodes are cut off the tree, down to MaxNodes;
//  3. then that number is halved, and groups are doubled, in turn.
//
// Samples of cut nodes count at their nearest remaining caller.
type Cells struct {
	tree  *flame.Tree
	List  []Cell
	most  int
	nodes int     // how many the tree may have
	Shift uint    // 1<<shift slots are a group
	at    []int32 // by node: where in list it may be
	open  int     // beginning in list of the current track and group
	cut   []bool  // by node: samples at it were moved to a caller
}

// NewCells counts at the nodes of a tree.
func NewCells(tree *flame.Tree, most Limits) Cells {
	return Cells{tree: tree, most: most.Cells, nodes: most.Nodes, at: make([]int32, len(tree.Parent)), cut: make([]bool, len(tree.Parent))}
}

// Add counts samples. Those of one track are consecutive, with ascending slots.
func (c *Cells) Add(track int32, slot int, node int32, weight int64) {
	group := int32(slot >> c.Shift)
	if n := len(c.List); n > 0 && (c.List[n-1].Track != track || c.List[n-1].Group != group) {
		c.open = n
	}
	if i := int(c.at[node]); i >= c.open && i < len(c.List) && c.List[i].Node == node {
		c.List[i].Weight = stream.Plus(c.List[i].Weight, weight)
		return
	}
	if len(c.List) >= c.most {
		c.shrink()
		c.Add(track, slot, node, weight)
		return
	}
	c.at[node] = int32(len(c.List))
	c.List = append(c.List, Cell{track, group, node, weight})
}

// shrink frees a quarter of the room.
func (c *Cells) shrink() {
	enough := c.most / 4 * 3
	for len(c.List) > enough && Slots>>c.Shift > fewGroups {
		c.regroup()
	}
	for len(c.List) > enough {
		if c.prune(); len(c.List) <= enough {
			return
		}
		switch groups := Slots >> c.Shift; {
		case groups > 1 && c.nodes <= groups*nodesOfGroup:
			c.regroup()
		case c.nodes > 0:
			c.nodes /= 2
		default: // one cell for each track: there is no more to give up
			c.most = 2 * len(c.List)
			return
		}
	}
}

// regroup doubles the groups.
func (c *Cells) regroup() {
	c.Shift++
	for i := range c.List {
		c.List[i].Group >>= 1
	}
	c.merge()
}

// prune moves the samples of all but the heaviest nodes to their callers.
func (c *Cells) prune() {
	totals := c.Totals()
	totals[0] = 0 // the root needs no place
	keep := Heaviest(totals, c.nodes)
	// A caller weighs no less than what it called, and has a lower number: it
	// stays if that does.
	home := make([]int32, len(totals)) // by node; the root is its own
	for node := int32(1); int(node) < len(home); node++ {
		if home[node] = node; !keep[node] {
			home[node] = home[c.tree.Parent[node]]
		}
	}
	for i := range c.List {
		if to := home[c.List[i].Node]; to != c.List[i].Node {
			c.cut[c.List[i].Node] = true
			c.List[i].Node = to
		}
	}
	c.merge()
}

// Heaviest selects the heaviest ones, at most that many, and none without weight. Of equals the
// first stay.
func Heaviest(weights []int64, most int) []bool {
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

// MoveTracks merges the tracks that are not kept into track 0.
func (c *Cells) MoveTracks(keep []bool) {
	for i := range c.List {
		if !keep[c.List[i].Track] {
			c.List[i].Track = 0
		}
	}
	c.merge()
}

// Totals is the weight of each node with all callees.
func (c *Cells) Totals() []int64 {
	self := make([]int64, len(c.tree.Parent))
	for i := range c.List {
		self[c.List[i].Node] += c.List[i].Weight
	}
	return c.tree.Totals(self)
}

// merge sorts cells and merges those at one place.
func (c *Cells) merge() {
	slices.SortFunc(c.List, func(a, b Cell) int { return a.where(&b) })
	kept := c.List[:0]
	c.open = 0
	for _, cell := range c.List {
		last := len(kept) - 1
		switch {
		case last < 0:
		case kept[last].where(&cell) == 0:
			kept[last].Weight += cell.Weight
			continue
		case kept[last].Track != cell.Track || kept[last].Group != cell.Group:
			c.open = len(kept)
		}
		c.at[cell.Node] = int32(len(kept))
		kept = append(kept, cell)
	}
	c.List = kept
}

// Finish cuts what exceeds the limits, and sorts the cells.
func (c *Cells) Finish() { c.prune() }

// CutNodes is how many nodes with samples were cut.
func (c *Cells) CutNodes() (n int64) {
	for _, cut := range c.cut {
		if cut {
			n++
		}
	}
	return n
}
