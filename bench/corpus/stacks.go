package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gprof/dedupe"
)

// Functions is how many functions the stacks are made of. Few of them are in
// most stacks, and most in few.
const Functions = 17_700

// deep is the usual number of frames of a stack, and tail how many of them the
// next stack replaces, on average.
const (
	deep = 40
	tail = 5
)

// Stacks is a tree of stacks. Its nodes count from 1, and a parent comes before
// its children.
type Stacks struct {
	tree   dedupe.Tree[int32, int32]
	depth  []int32 // by node
	leaves []int32 // nodes that are sampled
}

// NewStacks makes a tree with that many stacks to sample.
func NewStacks(seed uint64, n int) *Stacks {
	s := &Stacks{depth: []int32{0}}
	r := rand.New(rand.NewPCG(seed, 1))
	trunk := rand.New(rand.NewPCG(0, 2)) // that of all trees
	node := s.push(trunk, 0, deep-8)
	sampled := map[int32]bool{}
	for len(s.leaves) < n {
		base := node
		if len(s.leaves) > 0 {
			base = s.leaves[r.IntN(len(s.leaves))]
		}
		leaf := s.vary(r, base)
		if !sampled[leaf] {
			sampled[leaf] = true
			s.leaves = append(s.leaves, leaf)
		}
	}
	return s
}

// vary replaces the tail of a stack by another of about its length.
func (s *Stacks) vary(r *rand.Rand, node int32) int32 {
	n := 1 + int(r.ExpFloat64()*(tail-1))
	for range min(n, int(s.depth[node])-1) {
		node, _ = s.tree.At(node)
	}
	return s.push(r, node, max(1, n+r.IntN(3)-1+(deep-int(s.depth[node])-n)/8))
}

// push adds n frames. What a function calls is mostly what it called before.
func (s *Stacks) push(r *rand.Rand, node int32, n int) int32 {
	for range n {
		x := r.Float64()
		node = s.tree.Intern(node, int32(math.Pow(x, 8)*Functions))
		if int(node) == len(s.depth) {
			parent, _ := s.tree.At(node)
			s.depth = append(s.depth, s.depth[parent]+1)
		}
	}
	return node
}

// at is the parent of a node and the number of its function.
func (s *Stacks) at(node int32) (parent, function int32) { return s.tree.At(node) }

// Where a function is in the module, and what it is called.
func offsetOf(function int32) uint64 { return 4096 + 64*uint64(function) }
func nameOf(function int32) string {
	return fmt.Sprintf("github.com/shop/%s.(*Service).Step%d", packageOf(function), function)
}
func fileOf(function int32) string {
	return fmt.Sprintf("/src/shop/%s/service.go", packageOf(function))
}
func lineOf(function int32) uint64    { return 10 + uint64(function)%900 }
func packageOf(function int32) string { return fmt.Sprintf("part%03d", function%350) }
