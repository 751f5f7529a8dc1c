package gotrace

// lookup finds values by number. Before its map it looks among those found lately: most events are of goroutines that
// the last ones were of, too.
type lookup[T any] struct {
	all    map[int64]*T
	recent [lookupRecent]struct {
		number int64
		value  *T // nil: none
	}
}

// lookupRecent is a power of two; lookupShift leaves as many bits of a number of 64.
const (
	lookupRecent = 1 << 9
	lookupShift  = 64 - 9
)

func newLookup[T any]() lookup[T] { return lookup[T]{all: map[int64]*T{}} }

// place is where a number is among the recent ones: multiplied by the golden ratio, so that no two near ones share it.
func (l *lookup[T]) place(number int64) int {
	return int(uint64(number) * 0x9e3779b97f4a7c15 >> lookupShift)
}

// at returns the value of a number, nil if there is none.
func (l *lookup[T]) at(number int64) *T {
	r := &l.recent[l.place(number)]
	if r.value != nil && r.number == number {
		return r.value
	}
	v := l.all[number]
	r.number, r.value = number, v
	return v
}

func (l *lookup[T]) set(number int64, v *T) {
	l.all[number] = v
	r := &l.recent[l.place(number)]
	r.number, r.value = number, v
}

func (l *lookup[T]) remove(number int64) {
	delete(l.all, number)
	if r := &l.recent[l.place(number)]; r.number == number {
		r.value = nil
	}
}

func (l *lookup[T]) clear() { *l = newLookup[T]() }
