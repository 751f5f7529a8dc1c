package batch

import (
	"slices"
	"sync"
)

// schedule makes items of a batch that have a process in common follow each other in their
// order; all others are converted side by side. Items are begun in order.
type schedule struct {
	mu      sync.Mutex
	changed *sync.Cond
	items   []turn
	left    int // the first item that is not done
}

// turn is the state of an item.
type turn struct {
	known, done bool
	instances   []uint64 // sorted
}

func newSchedule(n int) *schedule {
	t := &schedule{items: make([]turn, n)}
	t.changed = sync.NewCond(&t.mu)
	return t
}

// wait notes the processes of item i, and waits for earlier items with any of them.
func (t *schedule) wait(i int, instances []uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	instances = slices.Sorted(slices.Values(instances))
	t.items[i].known, t.items[i].instances = true, instances
	t.changed.Broadcast()
	for t.blocked(i) {
		t.changed.Wait()
	}
}

// blocked reports whether an earlier item has a process of item i, or may have one.
func (t *schedule) blocked(i int) bool {
	return slices.ContainsFunc(t.items[min(t.left, i):i], func(o turn) bool {
		return !o.done && (!o.known || common(o.instances, t.items[i].instances))
	})
}

// common reports whether two sorted lists have an element in common.
func common(a, b []uint64) bool {
	return slices.ContainsFunc(a, func(n uint64) bool {
		_, found := slices.BinarySearch(b, n)
		return found
	})
}

// done notes that item i is done.
func (t *schedule) done(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items[i] = turn{known: true, done: true}
	for t.left < len(t.items) && t.items[t.left].done {
		t.left++
	}
	t.changed.Broadcast()
}
