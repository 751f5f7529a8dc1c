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
	spare          []place
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
	o.sortLate()
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

// radixRows is from how many rows on a radix sort is faster.
const radixRows = 128

// sortLate sorts the late rows. Their times lie near each other, so that a few
// of their bytes tell them apart.
func (o *ordering) sortLate() {
	if len(o.late) < radixRows {
		sortPlaces(o.late)
		return
	}
	lowest, highest := o.late[0].time, o.late[0].time
	for i := range o.late {
		lowest, highest = min(lowest, o.late[i].time), max(highest, o.late[i].time)
	}
	o.spare = slices.Grow(o.spare[:0], len(o.late))[:len(o.late)]
	for shift := 0; (uint64(highest)-uint64(lowest))>>shift != 0; shift += 8 {
		sortByte(o.spare, o.late, lowest, shift)
		o.late, o.spare = o.spare, o.late
	}
	sortTies(o.late)
}

// sortByte puts the places of from into to by one byte of their times, those
// with the same in the order in which they were.
func sortByte(to, from []place, lowest Time, shift int) {
	var next [256]int32
	for i := range from {
		next[byte((uint64(from[i].time)-uint64(lowest))>>shift)]++
	}
	sum := int32(0)
	for i, n := range next {
		next[i] = sum
		sum += n
	}
	for i := range from {
		at := &next[byte((uint64(from[i].time)-uint64(lowest))>>shift)]
		to[*at] = from[i]
		*at++
	}
}

// sortTies sorts those that have the same time.
func sortTies(p []place) {
	for from := 0; from < len(p); {
		to := from + 1
		for to < len(p) && p[to].time == p[from].time {
			to++
		}
		if to-from > 1 {
			sortPlaces(p[from:to])
		}
		from = to
	}
}

func sortPlaces(p []place) {
	slices.SortFunc(p, func(a, b place) int { return a.compare(b.sortKey) })
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
	permute(&b.Thread, &to.Thread, o.order)
	permute(&b.Goroutine, &to.Goroutine, o.order)
	permute(&b.Labels, &to.Labels, o.order)
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
