package ring

import (
	"slices"
	"testing"
)

// FuzzRingList: the list agrees with a slice.
func FuzzRingList(f *testing.F) {
	f.Add([]byte{1, 5, 5, 0, 200, 3, 9, 130})
	f.Fuzz(func(t *testing.T, ops []byte) {
		l := list{which: byDone}
		var model []*Chunk
		for _, op := range ops {
			if op >= 128 && len(model) > 0 {
				i := int(op) % len(model)
				l.remove(model[i])
				model = slices.Delete(model, i, i+1)
			} else {
				c := &Chunk{}
				c.fixed.Close.Monotonic = uint64(op % 8)
				l.insertByDone(c)
				at := len(model)
				for at > 0 && model[at-1].done() > c.done() {
					at--
				}
				model = slices.Insert(model, at, c)
			}
			compareList(t, &l, model)
		}
	})
}

func compareList(t *testing.T, l *list, model []*Chunk) {
	t.Helper()
	var prev *Chunk
	i := 0
	for c := l.first; c != nil; c = l.next(c) {
		if i >= len(model) || c != model[i] || c.links[byDone].prev != prev {
			t.Fatalf("element %d differs", i)
		}
		prev = c
		i++
	}
	if i != len(model) || l.last != prev {
		t.Fatalf("%d elements, want %d", i, len(model))
	}
}
