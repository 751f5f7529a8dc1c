package batch

import (
	"slices"
	"sync"
)

// turns let items of a batch that have a process in common be converted one
// after the other, in their order, while all others go side by side. Items are
// begun in their order.
type turns struct {
	mu      sync.Mutex
	changed *sync.Cond
	items   []turn
	left    int // all before are done
}

// turn is what is known of an item.
type turn struct {
	known, done bool
	instances   []uint64 // sorted
}

func newTurns(n int) *turns {
	t := &turns{items: make([]turn, n)}
	t.changed = sync.NewCond(&t.mu)
	return t
}

// wait says of which processes item i is, and waits for the earlier ones of any
// of them.
func (t *turns) wait(i int, instances []uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	instances = slices.Sorted(slices.Values(instances))
	t.items[i].known, t.items[i].instances = true, instances
	t.changed.Broadcast()
	for t.blocked(i) {
		t.changed.Wait()
	}
}

// blocked reports whether an earlier item is of one of the processes of item i,
// or may be.
func (t *turns) blocked(i int) bool {
	return slices.ContainsFunc(t.items[min(t.left, i):i], func(o turn) bool {
		return !o.done && (!o.known || common(o.instances, t.items[i].instances))
	})
}

// common reports whether two sorted lists have something in common.
func common(a, b []uint64) bool {
	return slices.ContainsFunc(a, func(n uint64) bool {
		_, found := slices.BinarySearch(b, n)
		return found
	})
}

// done says that item i needs nothing any more.
func (t *turns) done(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items[i] = turn{known: true, done: true}
	for t.left < len(t.items) && t.items[t.left].done {
		t.left++
	}
	t.changed.Broadcast()
}
