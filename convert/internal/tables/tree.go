package tables

import (
	"sync"

	"gprof/stream"
)

// tree numbers the stacks as a walk meets them that goes on from a stack to those below it, the ones
// that it called: so they all have the numbers behind its own, up to some last one. Sums over what is
// below each stack are differences of one running sum then, and no query needs lists of frames for them.
type tree struct {
	number []int32          // by StackID
	stacks []stream.StackID // by number
	inner  func() bits      // made once, by number: a caller has the name of the stack's frame
	last   []int32          // by number, of a part at a time: the last number in use below a stack, or its own
}

// treeBytes is the memory of a tree for a stack, and of making it for a frame.
const treeBytes, namesBytes = 3*4 + 4 + 1, 48

func treeOf(t *stream.Tables) *tree {
	n := t.Stacks.Len()
	w := &tree{number: make([]int32, n+1), stacks: make([]stream.StackID, n+1), last: make([]int32, n+1)}
	w.inner = sync.OnceValue(func() bits { return w.findInner(t) })
	next := make([]int32, n+1) // how many are below, later the next number below
	for id := stream.StackID(n); id > 0; id-- {
		next[id]++
		caller, _ := t.Stacks.At(id)
		next[caller] += next[id]
	}
	next[0] = 1
	for id := stream.StackID(1); int(id) <= n; id++ {
		caller, _ := t.Stacks.At(id)
		at := next[caller]
		next[caller] += next[id]
		w.number[id], w.stacks[at], next[id] = at, id, at+1
	}
	return w
}

// findInner walks all stacks, and knows the names on the way.
func (w *tree) findInner(t *stream.Tables) bits {
	names, inner := numberNames(t), newBits(len(w.stacks))
	open := make([]int32, len(names)) // by name: how many stacks on the way have it
	var way []stream.StackID
	for number, id := range w.stacks {
		if id == 0 {
			continue
		}
		caller, frame := t.Stacks.At(id)
		for len(way) > 0 && way[len(way)-1] != caller {
			_, left := t.Stacks.At(way[len(way)-1])
			open[names[left]]--
			way = way[:len(way)-1]
		}
		if open[names[frame]] > 0 {
			inner.set(number)
		}
		open[names[frame]]++
		way = append(way, id)
	}
	return inner
}

// numberNames gives frames of the same name the same number, below that of all frames.
func numberNames(t *stream.Tables) []int32 {
	names, known := make([]int32, t.Frames.Len()+1), map[string]int32{}
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		name := frameName(t, f, moduleOf(t, f))
		number, ok := known[name]
		if !ok {
			number = int32(len(known))
			known[name] = number
		}
		names[id] = number
	}
	return names
}

// use adds the callers of stacks, by number, and notes the last one below each.
func (w *tree) use(t *stream.Tables, used bits) {
	used.falling(func(number int) {
		if w.last[number] == 0 {
			w.last[number] = int32(number)
		}
		caller, _ := t.Stacks.At(w.stacks[number])
		above := w.number[caller]
		used.set(int(above))
		if w.last[above] == 0 {
			w.last[above] = w.last[number]
		}
	})
}

// takeLast is the last number in use below a stack, once.
func (w *tree) takeLast(number int) int32 {
	last := w.last[number]
	w.last[number] = 0
	return last
}
