package decode

// ids is a table by id, with the zero T for undefined ones. Ids are dense from 1, so it is a slice;
// an id far beyond the number of those before goes to a map, so that hostile ids allocate nothing.
type ids[T comparable] struct {
	dense  []T
	sparse map[uint64]T
	puts   int
}

// spareIDs is how far ids may exceed their number.
const spareIDs = 1024

func (t *ids[T]) put(id uint64, v T) {
	t.puts++
	if n := len(t.dense); id == uint64(n) && n < cap(t.dense) { // mostly
		t.dense = t.dense[:n+1]
		t.dense[n] = v
		return
	}
	t.putElsewhere(id, v)
}

func (t *ids[T]) putElsewhere(id uint64, v T) {
	switch n := uint64(len(t.dense)); {
	case id < n:
		t.dense[id] = v
	case id == n:
		t.dense = append(t.dense, v)
	case id < uint64(2*t.puts+spareIDs):
		var none T
		for uint64(len(t.dense)) < id {
			t.dense = append(t.dense, none)
		}
		t.dense = append(t.dense, v)
	default:
		if t.sparse == nil {
			t.sparse = map[uint64]T{}
		}
		t.sparse[id] = v
	}
}

// grow makes room for n ids, from 1.
func (t *ids[T]) grow(n int) { t.dense = grow(t.dense, n+1) }

// grow makes room for n more. [slices.Grow] would clear megabytes in one go, which can't be interrupted: a collection that
// has begun on another core sends signals to the thread until it can be.
func grow[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return append(make([]T, 0, len(s)+n), s...)
}

func (t *ids[T]) get(id uint64) (v T) {
	if id < uint64(len(t.dense)) {
		v = t.dense[id]
	}
	var none T
	if v == none && t.sparse != nil {
		return t.sparse[id]
	}
	return v
}

// reset empties the table and keeps its memory.
func (t *ids[T]) reset() {
	*t = ids[T]{dense: t.dense[:0]}
}
