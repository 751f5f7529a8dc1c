package compare

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
)

// Tree is the call trees of both sets as one, for pictures.
//
// Its figures are amounts of work done meanwhile: a unit is what all of the base's samples are for as
// much of the work that did not change (see scale.go). So a function that became slower does not make
// all others look faster, as it does with shares of all.
type Tree struct {
	Nodes   []Node // the root first, callers before what they call
	Measure Measure
	Judged  bool // that a node is grey means something
}

// Node is a function as called from its caller.
type Node struct {
	Name   string // as it is now; "" of the root
	Was    string // the name in the base, if it is another
	Caller int32
	Self   Change
	Total  Change // with all that it calls
	Mark   Mark
}

// Mark says what a node's difference is.
type Mark uint8

const (
	Quiet Mark = iota // nothing beyond the noise, or a node below explains it
	Grew
	Fell
	Moved // to or from its neighbours, which make up for it: see [Match]
)

func (m Mark) String() string { return [...]string{"quiet", "grew", "fell", "moved"}[m] }

// MarshalText is String, for JSON.
func (m Mark) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// marked is a node in JSON.
type marked struct {
	Stack []string `json:"stack"` // from its outermost caller to itself, by the names of now
	Mark  Mark     `json:"mark"`
	Self  Change   `json:"self"`
	Total Change   `json:"total"`
}

// MarshalJSON writes what a picture shows in colours, not all nodes.
func (t *Tree) MarshalJSON() ([]byte, error) {
	all := []marked{}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Mark != Grew && n.Mark != Fell {
			continue
		}
		stack := []string{}
		for at := int32(i); at != 0; at = t.Nodes[at].Caller {
			stack = append(stack, t.Nodes[at].Name)
		}
		slices.Reverse(stack)
		all = append(all, marked{stack, n.Mark, n.Self, n.Total})
	}
	return json.Marshal(struct {
		Judged  bool     `json:"judged"`
		Measure Measure  `json:"measure"`
		Marked  []marked `json:"marked"`
	}{t.Judged, t.Measure, all})
}

const (
	// drawnShare is the share of the larger root below which nodes are left out: half a pixel of a
	// picture 1,600 wide.
	drawnShare = 1.0 / 3200

	// triedShare is the share, in either set, from which a node is judged. Each that is makes it harder
	// for all others to be told from noise, and this is 8 of 1,600 pixels.
	triedShare = 0.005

	// maxTried bounds the nodes that are judged, the heaviest, each of which takes 32 KiB meanwhile.
	maxTried = 4096
)

// tally is what a node adds up to in one set.
type tally struct{ self, total float64 }

// figure is an amount of which the spread is known.
type figure struct {
	sum
	counted float64
	strata  []bool // in which it occurs
}

// side is one of the sets in the making of a tree.
type side struct {
	*sample
	node    []int32 // of the tree, by the set's own
	tallies []tally
	exists  map[string]bool // functions, by the tree's names
	ref     sum             // the measure
	self    []figure        // of tried nodes
	total   []figure
}

// builder makes a Tree.
type builder struct {
	*Tree
	report    *Report
	base, new side
	renamed   map[string]string // names of the base to those of now
	children  [][]int32
	tried     []int32 // nodes that are judged
	at        []int32 // by node: 1 and where it is in tried, 0 is nowhere
	unit      float64 // the base's measure, as a share of all that it used
}

// newTree compares the call trees.
//
//  1. Both become one, by the names of functions; those that were renamed are found.
//  2. What did not change is the measure, and each node large enough is compared by it.
//  3. Costs that moved between neighbours are found, and the rest that is more than noise is marked.
func (r *Report) newTree() *Tree {
	b := &builder{Tree: &Tree{}, report: r, base: side{sample: r.base}, new: side{sample: r.new}, renamed: map[string]string{}}
	b.unite()
	for range maxRounds {
		if !b.findRenamed() {
			break
		}
		b.unite()
	}
	b.totals(&b.base)
	b.totals(&b.new)
	b.measure()
	b.judge()
	b.findMoved()
	b.mark()
	b.prune()
	return b.Tree
}

// edge is a function and its caller.
type edge struct {
	caller int32
	name   string
}

// unite makes the nodes of both sets those of one tree.
func (b *builder) unite() {
	b.Nodes = []Node{{}}
	known := map[edge]int32{}
	b.base.join(b.Tree, known, b.renamed)
	b.new.join(b.Tree, known, nil)
	b.base.weigh(len(b.Nodes))
	b.new.weigh(len(b.Nodes))
	b.children = make([][]int32, len(b.Nodes))
	for i := 1; i < len(b.Nodes); i++ {
		caller := b.Nodes[i].Caller
		b.children[caller] = append(b.children[caller], int32(i))
	}
}

// join adds the nodes of one set.
func (s *side) join(t *Tree, known map[edge]int32, renamed map[string]string) {
	own := &s.set.stacks
	s.node = make([]int32, max(1, len(own.caller)))
	s.exists = map[string]bool{}
	for _, name := range s.set.functions {
		s.exists[cmp.Or(renamed[name], name)] = true
	}
	for i := 1; i < len(own.caller); i++ {
		was := s.set.functions[own.key[i]]
		e := edge{s.node[own.caller[i]], cmp.Or(renamed[was], was)}
		at, ok := known[e]
		if !ok {
			at = int32(len(t.Nodes))
			known[e] = at
			t.Nodes = append(t.Nodes, Node{Name: e.name, Caller: e.caller})
			if was != e.name {
				t.Nodes[at].Was = was
			}
		}
		s.node[i] = at
	}
}

// weigh sums up the samples of all processes by node.
func (s *side) weigh(nodes int) {
	own := make([]float64, len(s.node))
	for i := range s.set.processes {
		p := &s.set.processes[i]
		for _, sum := range p.own {
			own[sum.node] += s.basis.value(p, sum.self)
		}
	}
	s.tallies = make([]tally, nodes)
	for i, value := range own {
		s.tallies[s.node[i]].self += value
	}
}

// addUp makes totals of the values by node; callers come first.
func (t *Tree) addUp(values []float64) {
	for i := len(values) - 1; i > 0; i-- {
		values[t.Nodes[i].Caller] += values[i]
	}
}

// totals fills in the totals of a side's tallies.
func (b *builder) totals(s *side) {
	for i := range s.tallies {
		s.tallies[i].total = s.tallies[i].self
	}
	for i := len(s.tallies) - 1; i > 0; i-- {
		s.tallies[b.Nodes[i].Caller].total += s.tallies[i].total
	}
}

// judge compares the nodes that are large enough.
func (b *builder) judge() {
	b.choose()
	b.base.try(b)
	b.new.try(b)
	processes := b.report.processes()
	if b.report.inCommon() == 0 {
		processes = 0 // all would be new or gone
	}
	b.Judged = processes >= minProcesses
	var selfs, totals []*Change
	for i := range b.Nodes {
		n := &b.Nodes[i]
		one, two := b.base.tallies[i], b.new.tallies[i]
		at := int(b.at[i]) - 1
		if at < 0 {
			n.Self = newChange(b.base.plain(one.self, b.unit), b.new.plain(two.self, b.unit), 0)
			n.Total = newChange(b.base.plain(one.total, b.unit), b.new.plain(two.total, b.unit), 0)
			noteOnly(one.total > 0, two.total > 0, &n.Self, &n.Total)
			continue
		}
		n.Self = newChange(b.base.estimate(&b.base.self[at], b.unit), b.new.estimate(&b.new.self[at], b.unit), processes)
		n.Total = newChange(b.base.estimate(&b.base.total[at], b.unit), b.new.estimate(&b.new.total[at], b.unit), processes)
		noteOnly(one.total > 0, two.total > 0, &n.Self, &n.Total)
		if totals = append(totals, &n.Total); one.self+two.self > 0 {
			selfs = append(selfs, &n.Self)
		}
	}
	findSurely(selfs)
	findSurely(totals)
}

// share is the larger of a node's shares in both sets.
func (b *builder) share(node int32) float64 {
	of := func(s *side) float64 {
		if s.all.whole <= 0 {
			return 0
		}
		return s.tallies[node].total / s.all.whole
	}
	return max(of(&b.base), of(&b.new))
}

// choose lists the nodes to be tried: large ones, the heaviest if they are too many.
func (b *builder) choose() {
	for i := range b.Nodes {
		if b.share(int32(i)) >= triedShare {
			b.tried = append(b.tried, int32(i))
		}
	}
	slices.SortFunc(b.tried, func(x, y int32) int {
		return cmp.Or(cmp.Compare(b.share(y), b.share(x)), cmp.Compare(x, y))
	})
	b.tried = b.tried[:min(len(b.tried), maxTried)]
	b.at = make([]int32, len(b.Nodes))
	for i, node := range b.tried {
		b.at[node] = int32(i) + 1
	}
}

// try sums up the tried nodes in each draw.
func (s *side) try(b *builder) {
	s.self, s.total = make([]figure, len(b.tried)), make([]figure, len(b.tried))
	for i := range b.tried {
		s.self[i], s.total[i] = s.newFigure(), s.newFigure()
	}
	values, counts := make([]float64, len(b.Nodes)), make([]float64, len(b.Nodes))
	for i := range s.set.processes {
		p := &s.set.processes[i]
		clear(values)
		clear(counts)
		for _, sum := range p.own {
			values[s.node[sum.node]] += s.basis.value(p, sum.self)
			counts[s.node[sum.node]] += s.basis.counted(sum.self)
		}
		for at, node := range b.tried {
			s.add(&s.self[at], cell{i, values[node], counts[node]})
		}
		b.addUp(values)
		b.addUp(counts)
		for at, node := range b.tried {
			s.add(&s.total[at], cell{i, values[node], counts[node]})
		}
	}
}

func (s *side) newFigure() figure {
	return figure{sum: sum{drawn: make([]float64, draws)}, strata: make([]bool, len(s.sizes))}
}

// add adds what one process adds to a figure.
func (s *side) add(f *figure, c cell) {
	if c.value == 0 {
		return
	}
	f.whole += c.value
	f.counted += c.counted
	f.strata[s.stratum[c.process]] = true
	f.sum.add(s.weights[c.process], c.value)
}

// plain is a figure in the tree's unit, of which the error is not known.
func (s *side) plain(value, unit float64) Estimate {
	if s.ref.whole <= 0 {
		return Estimate{none: true}
	}
	return Estimate{Value: value / s.ref.whole * unit}
}

// estimate is a figure in the tree's unit.
func (s *side) estimate(f *figure, unit float64) Estimate {
	freedom, floor := 0, 0.0
	for stratum, there := range f.strata {
		if there {
			freedom += s.sizes[stratum] - 1
		}
	}
	if f.counted > 0 {
		floor = 1 / math.Sqrt(f.counted)
	}
	e := estimate(float64(freedom), f.sum, s.ref, floor)
	e.Value, e.Error = e.Value*unit, e.Error*unit
	return e
}

// mark marks where differences arise: nodes that changed by themselves, and those of whose difference
// not even half comes from marks below, because many small things changed.
func (b *builder) mark() {
	told := make([]float64, len(b.Nodes)) // the difference that marks at a node and below tell
	for i := len(b.Nodes) - 1; i >= 0; i-- {
		n := &b.Nodes[i]
		all := n.Total.difference()
		switch {
		case n.Mark == Moved:
		case n.Self.Found:
			n.Mark = n.Self.mark()
			told[i] += n.Self.difference()
		case n.Total.Found && math.Abs(told[i]-all) > math.Abs(all)/2:
			n.Mark = n.Total.mark()
			told[i] = all
		}
		if i > 0 {
			told[n.Caller] += told[i]
		}
	}
}

// mark is that of a change that was found.
func (c *Change) mark() Mark {
	if c.difference() > 0 {
		return Grew
	}
	return Fell
}

// prune leaves out nodes too small to be drawn.
func (b *builder) prune() {
	root := &b.Nodes[0].Total
	least := max(root.Base.Value, root.New.Value) * drawnShare
	number := make([]int32, len(b.Nodes))
	kept := b.Nodes[:0]
	for i, n := range b.Nodes {
		if i > 0 && (max(n.Total.Base.Value, n.Total.New.Value) < least || number[n.Caller] < 0) {
			number[i] = -1
			continue
		}
		number[i] = int32(len(kept))
		n.Caller = number[n.Caller]
		kept = append(kept, n)
	}
	b.Nodes = kept
}
