package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gprof/convert/internal/chance"
)

// findMoved finds costs that moved from a function to its neighbours, as where one was divided into two
// or went into its caller: where some of what a node calls came or went, and what grew and what fell
// below the node are the same within their interval. One of them must be a function that the other set
// lacks altogether; else one became slower and another faster. So that a small regression is not taken
// for noise of a large move, the interval must be narrower than half of what moved.
func (b *builder) findMoved() {
	for i := range b.Nodes {
		if b.Nodes[i].Mark == Moved || b.at[i] == 0 {
			continue
		}
		var oneSided, all []int32
		for _, child := range b.children[i] {
			if c := &b.Nodes[child].Total; c.Found {
				all = append(all, child)
				if c.Base.Value == 0 || c.New.Value == 0 {
					oneSided = append(oneSided, child)
				}
			}
		}
		if !slices.ContainsFunc(oneSided, b.onlyOne) {
			continue
		}
		for _, g := range []group{{nodes: oneSided}, {nodes: oneSided, self: true}, {nodes: all}, {nodes: all, self: true}, {nodes: all, self: true, whole: true}} {
			if g.node = int32(i); b.level(&g) {
				b.move(&g)
				break
			}
		}
	}
}

// group is some of what a node consists of.
type group struct {
	node  int32
	self  bool // what the node takes by itself is part of it
	nodes []int32
	whole bool // all that the node consists of, though only nodes changed for sure
}

// onlyOne reports whether only one set has the function of a node.
func (b *builder) onlyOne(node int32) bool {
	name := b.Nodes[node].Name
	return !b.base.exists[name] || !b.new.exists[name]
}

// changes are those of a group.
func (b *builder) changes(g *group) (all []*Change) {
	for _, node := range g.nodes {
		all = append(all, &b.Nodes[node].Total)
	}
	if g.self {
		all = append(all, &b.Nodes[g.node].Self)
	}
	return all
}

// level reports whether a group as a whole did not change, but in itself.
func (b *builder) level(g *group) bool {
	grew, fell := 0.0, 0.0
	for _, c := range b.changes(g) {
		grew, fell = grew+max(0, c.difference()), fell+max(0, -c.difference())
	}
	least := min(grew, fell)
	base, new := b.base.together(b, g), b.new.together(b, g)
	if g.whole {
		least, base, new = max(grew, fell), b.Nodes[g.node].Total.Base, b.Nodes[g.node].Total.New
	}
	err := math.Hypot(base.Error, new.Error)
	freedom := welch(base, new)
	if freedom <= 0 || least == 0 {
		return false
	}
	width := chance.Quantile(chance.Unlikely, freedom) * err
	return math.Abs(new.Value-base.Value) <= width && width <= least/2
}

// together estimates a group as one figure.
func (s *side) together(b *builder, g *group) Estimate {
	all := s.newFigure()
	add := func(f *figure) {
		all.whole, all.counted = all.whole+f.whole, all.counted+f.counted
		for d, v := range f.drawn {
			all.drawn[d] += v
		}
		for i, there := range f.strata {
			all.strata[i] = all.strata[i] || there
		}
	}
	for _, node := range g.nodes {
		add(&s.total[b.at[node]-1])
	}
	if g.self {
		add(&s.self[b.at[g.node]-1])
	}
	return s.estimate(&all, b.unit)
}

// move marks a group as moved, and notes it once for all places where it did.
func (b *builder) move(g *group) {
	m := Match{Within: b.Nodes[g.node].Name}
	note := func(name, was string, c *Change) {
		if c.difference() > 0 {
			m.To = append(m.To, name)
		} else if c.difference() < 0 {
			m.From = append(m.From, cmp.Or(was, name))
		}
	}
	for _, node := range g.nodes {
		note(b.Nodes[node].Name, b.Nodes[node].Was, &b.Nodes[node].Total)
		b.calm(node, &m.below)
	}
	if self := &b.Nodes[g.node]; g.self {
		note(self.Name, self.Was, &self.Self)
		self.Mark = Moved
	}
	slices.Sort(m.From)
	slices.Sort(m.To)
	same := func(o Match) bool { return fmt.Sprint(o.From, o.To, o.Within) == fmt.Sprint(m.From, m.To, m.Within) }
	if at := slices.IndexFunc(b.report.Matched, same); at >= 0 {
		b.report.Matched[at].below = append(b.report.Matched[at].below, m.below...)
	} else {
		b.report.Matched = append(b.report.Matched, m)
	}
}

// changed reports whether a node's function changed by itself, wherever it was called from.
func (b *builder) changed(n *Node) bool {
	of := func(s *side, name string) Estimate {
		cells := s.cellsOf(name, selfOf)
		return s.ratio(cells, s.sum(cells), s.ref, counting(cells))
	}
	c := newChange(of(&b.base, cmp.Or(n.Was, n.Name)), of(&b.new, n.Name), b.report.processes())
	return c.P <= chance.Unlikely/float64(len(b.report.Functions))
}

// calm marks a node and all below it as moved, and adds the names of those below that changed.
func (b *builder) calm(node int32, changed *[]string) {
	b.Nodes[node].Mark = Moved
	for _, child := range b.children[node] {
		if n := &b.Nodes[child]; n.Self.Found && b.changed(n) {
			*changed = append(*changed, n.Name, cmp.Or(n.Was, n.Name))
		}
		b.calm(child, changed)
	}
}
