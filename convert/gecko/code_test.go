package gecko

import (
	"math/rand/v2"
	"testing"

	"gprof/stream"
)

// Each node follows its caller, or the last one below a sibling that was called before.
func TestLayOut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var c code
	tree := &c.merged.Stacks
	for range 3000 { // some are the same again
		tree.Intern(stream.StackID(r.IntN(tree.Len()+1)), stream.FrameID(1+r.IntN(20)))
	}
	was := c.merged.Stacks
	for id := range was.Len() + 1 {
		c.stacks = append(c.stacks, stream.StackID(id))
	}
	c.layOut()
	if len(c.nodes) != was.Len()+1 {
		t.Fatalf("%d nodes of %d stacks", len(c.nodes)-1, was.Len())
	}
	last := make(map[stream.StackID]stream.StackID) // what each called last
	for id := stream.StackID(1); int(id) <= was.Len(); id++ {
		caller, frame := was.At(id)
		at := c.stacks[id]
		if n := c.nodes[at]; n.caller != c.stacks[caller] || n.frame != frame {
			t.Fatalf("stack %d of frame %d, called by %d, is node %+v", id, frame, caller, n)
		}
		if at < last[caller] {
			t.Errorf("stack %d is before another that its caller called earlier", id)
		}
		last[caller] = at
	}
	for at := 1; at < len(c.nodes); at++ {
		before := stream.StackID(at - 1)
		for before != 0 && before != c.nodes[at].caller {
			before = c.nodes[before].caller
		}
		if before != c.nodes[at].caller {
			t.Errorf("node %d, called by %d, is behind one that is not below that", at, c.nodes[at].caller)
		}
	}
}
