package stream

import (
	"cmp"
	"slices"
)

// sortKey is what rows of a series are ordered by.
type sortKey struct {
	time  Time
	index uint64
}

func (k sortKey) compare(l sortKey) int {
	if k.time != l.time {
		return cmp.Compare(k.time, l.time)
	}
	return cmp.Compare(k.index, l.index)
}

func (k sortKey) less(l sortKey) bool {
	return k.time < l.time || k.time == l.time && k.index < l.index
}

func (b *Batch) key(i int) sortKey { return sortKey{b.Time[i], b.Index[i]} }

// ordering sorts batches. It holds memory for that.
type ordering struct {
	punctual, late []place
	order          []int32
	columns        Batch
}

// place is a row of a batch.
type place struct {
	sortKey
	row int32
}

// sort orders the rows of b.
//
//  1. The late ones, which come after a row that should follow them, are taken
//     out and sorted by themselves. An interval is late when another that began
//     in it has been recorded before; a sample when it lay in a ring.
//  2. Both are merged.
func (o *ordering) sort(b *Batch) {
	o.split(b)
	slices.SortFunc(o.late, func(a, b place) int { return a.compare(b.sortKey) })
	o.merge()
	o.permute(b)
}

// shortAscent is how many rows a stretch has at least, on average, that is not
// worth sorting.
const shortAscent = 64

// tangled says whether the rows of b are in order for short stretches only.
func (b *Batch) tangled() bool {
	times, index := b.Time, b.Index[:len(b.Time)]
	descents := 0
	for i := 1; i < len(times); i++ {
		if times[i] < times[i-1] || times[i] == times[i-1] && index[i] < index[i-1] {
			descents++
		}
	}
	return descents*shortAscent > len(times)
}

// ascent is where the rows from from on end to be in order.
func (b *Batch) ascent(from int) int {
	times, index := b.Time, b.Index[:len(b.Time)]
	for i := from + 1; i < len(times); i++ {
		if times[i] < times[i-1] || times[i] == times[i-1] && index[i] < index[i-1] {
			return i
		}
	}
	return len(times)
}

// split divides the rows into those that are punctual, which are sorted, and
// those that are late.
func (o *ordering) split(b *Batch) {
	o.punctual, o.late = o.punctual[:0], o.late[:0]
	last := b.key(0)
	for i := range b.Time {
		if k := b.key(i); k.less(last) {
			o.late = append(o.late, place{k, int32(i)})
		} else {
			o.punctual = append(o.punctual, place{k, int32(i)})
			last = k
		}
	}
}

// merge finds the order of all rows.
func (o *ordering) merge() {
	o.order = o.order[:0]
	late := o.late
	for _, p := range o.punctual {
		for len(late) > 0 && late[0].less(p.sortKey) {
			o.order, late = append(o.order, late[0].row), late[1:]
		}
		o.order = append(o.order, p.row)
	}
	for _, l := range late {
		o.order = append(o.order, l.row)
	}
}

// permute makes row order[i] the i-th. The texts of a column stay where they
// are, because rows know where theirs is.
func (o *ordering) permute(b *Batch) {
	to := &o.columns
	permute(&b.Time, &to.Time, o.order)
	permute(&b.Index, &to.Index, o.order)
	permute(&b.Stack, &to.Stack, o.order)
	permute(&b.Weight, &to.Weight, o.order)
	permute(&b.CPU, &to.CPU, o.order)
	permute(&b.Phase, &to.Phase, o.order)
	permute(&b.Duration, &to.Duration, o.order)
	permute(&b.Value, &to.Value, o.order)
	permute(&b.Number, &to.Number, o.order)
	for i := range b.Args {
		if len(to.Args) <= i {
			to.Args = append(to.Args, Column{})
		}
		permute(&b.Args[i].num, &to.Args[i].num, o.order)
		permute(&b.Args[i].kind, &to.Args[i].kind, o.order)
	}
}

// permute makes a column that is used what it is in another order. It does so
// in the memory of scratch, which gets that of the column.
func permute[T any](column, scratch *[]T, order []int32) {
	if len(*column) == 0 {
		return
	}
	out := slices.Grow((*scratch)[:0], len(order))[:len(order)]
	for i, n := range order {
		out[i] = (*column)[n]
	}
	*column, *scratch = out, *column
}
