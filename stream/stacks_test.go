package stream

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// The final order is that of the definition: by depth, then caller, then frame, even if
// different frames become the same.
func TestRenumberStacks(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 4))
		stacks, jobs := 2000, 1
		if seed%5 == 0 { // levels are large enough to be divided
			stacks, jobs = 60_000, 2
		}
		var from, to stackTree
		frames := []FrameID{0}
		for range 30 {
			frames = append(frames, FrameID(1+r.IntN(12)))
		}
		live := []bool{true}
		for range stacks {
			n := from.Len()
			from.Intern(StackID(r.IntN(n+1)), FrameID(1+r.IntN(30)))
			if from.Len() > n {
				live = append(live, r.IntN(3) > 0)
			}
		}
		for id := StackID(from.Len()); id > 0; id-- {
			if parent, _ := from.At(id); live[id] {
				live[parent] = true
			}
		}
		ids := renumberStacks(&to, &from, levelsOf(&from, live), frames, jobs)
		checkStackOrder(t, &to)
		if levels := levelsOf(&from, live); jobs > 1 && largestLevel(levels) < largeLevel {
			t.Errorf("no level of %d stacks is large", from.Len())
		}
		for id := StackID(1); int(id) <= from.Len(); id++ {
			if got, want := path(&to, ids[id], nil), path(&from, id, frames); live[id] && !slices.Equal(got, want) {
				t.Fatalf("stack %d becomes %v, want %v", id, got, want)
			}
		}
	}
}

// path is the frames of a stack.
func path(t *stackTree, id StackID, final []FrameID) (out []FrameID) {
	for id != 0 {
		parent, frame := t.At(id)
		if final != nil {
			frame = final[frame]
		}
		out, id = append(out, frame), parent
	}
	return out
}

func checkStackOrder(t *testing.T, tree *stackTree) {
	t.Helper()
	depths := []int{0}
	for id := StackID(1); int(id) <= tree.Len(); id++ {
		parent, frame := tree.At(id)
		depths = append(depths, depths[parent]+1)
		if id == 1 {
			continue
		}
		before, beforeFrame := tree.At(id - 1)
		if cmp.Or(cmp.Compare(depths[id-1], depths[id]), cmp.Compare(before, parent), cmp.Compare(beforeFrame, frame)) >= 0 {
			t.Fatalf("stack %d (%d, %d) comes after (%d, %d)", id, parent, frame, before, beforeFrame)
		}
	}
}
