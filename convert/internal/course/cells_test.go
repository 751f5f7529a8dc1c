package course

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gprof/convert/internal/flame"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// treeOf is a tree of n functions, each called by one before it.
func treeOf(n int, r *rand.Rand) *flame.Tree {
	b := streamtest.NewBuilder()
	stacks := []stream.StackID{0}
	for i := range n {
		frame := b.Tables.Frames.Intern(stream.Frame{Function: b.Tables.Strings.Intern(fmt.Sprint("main.f", i))})
		stacks = append(stacks, b.Tables.Stacks.Intern(stacks[r.IntN(len(stacks))], frame))
	}
	tree, _ := flame.NewTree(b.Tables) // there is no bound
	return tree
}

// No limit loses a sample or moves it to another track. A sample may move to a
// caller, and by one group in time.
func TestCellsAgainstAll(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 0))
		tree := treeOf(1+r.IntN(300), r)
		most := 50 + r.IntN(2000)
		c := NewCells(tree, Limits{most, 1 + r.IntN(400)})
		all := make(map[Cell]int64) // by place, weight 0
		tracks := 1 + r.IntN(10)
		for track := range int32(tracks) {
			for slot := range Slots {
				for range r.IntN(8) {
					node, weight := int32(r.IntN(len(tree.Parent))), 1+r.Int64N(9)
					c.Add(track, slot, node, weight)
					all[Cell{Track: track, Group: int32(slot), Node: node}] += weight
				}
			}
		}
		c.Finish()
		if len(c.List) > most {
			t.Errorf("seed %d: %d Cells, want at most %d", seed, len(c.List), most)
		}
		for i, cell := range c.List {
			if i > 0 && c.List[i-1].where(&cell) >= 0 {
				t.Errorf("seed %d: Cell %d is out of order", seed, i)
			}
		}
		compare(t, &c, all)
	}
}

// compare adds up samples at and below each node, by track and group. Cells may
// have moved to callers: so nodes have no more than there was below them, and
// the root has all.
func compare(t *testing.T, c *Cells, all map[Cell]int64) {
	t.Helper()
	want, got := make(map[Cell]int64), make(map[Cell]int64)
	for place, weight := range all {
		place.Group >>= c.Shift
		spread(c.tree, want, place, weight)
	}
	for _, place := range c.List {
		weight := place.Weight
		place.Weight = 0
		spread(c.tree, got, place, weight)
	}
	for place, weight := range want {
		if n := got[place]; n > weight || place.Node == 0 && n != weight {
			t.Fatalf("at %+v there are %d samples, of %d", place, n, weight)
		}
		delete(got, place)
	}
	for place := range got {
		t.Fatalf("at %+v there are samples that never were", place)
	}
}

func spread(tree *flame.Tree, into map[Cell]int64, place Cell, weight int64) {
	for ; place.Node != 0; place.Node = tree.Parent[place.Node] {
		into[place] += weight
	}
	into[place] += weight
}

// With room enough nothing is moved.
func TestCellsWithRoom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	tree := treeOf(100, r)
	c := NewCells(tree, Limits{100_000, 100})
	for slot := range Slots {
		c.Add(1, slot, int32(slot%101), 2)
		c.Add(1, slot, int32(slot%101), 3)
	}
	c.Finish()
	if c.Shift != 0 || c.CutNodes() != 0 || len(c.List) != Slots || c.List[7].Weight != 5 {
		t.Errorf("shift %d, %d nodes cut, %d Cells", c.Shift, c.CutNodes(), len(c.List))
	}
}
