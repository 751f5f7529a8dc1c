package stream

import (
	"math/bits"
	"slices"

	"gprof/stream/internal/runs"
)

// key is the sort key of row i.
func (b *Batch) key(i int) runs.Key { return runs.Key{Time: int64(b.Time[i]), Index: b.Index[i]} }

// batchSorter sorts batches. It keeps its memory for the next one.
type batchSorter struct {
	punctual, late []place
	spare          []place
	keys           []uint64 // of the late ones
	spareKeys      []uint64
	order          []int32
	columns        Batch
}

// place is a row of a batch and its key.
type place struct {
	runs.Key
	row int32
}

// sort sorts the rows of b.
//
//  1. Late rows, which follow one that they should precede, are taken out and sorted by
//     themselves. An interval is late if a row that began during it was recorded before
//     it; a sample, if it had to wait in a ring.
//  2. Both lists are merged.
func (o *batchSorter) sort(b *Batch) {
	o.split(b)
	o.sortLate()
	o.merge()
	b.Select(o.order, &o.columns)
}

// shortAscent is the average length of sorted stretches from which on a batch need not be
// sorted.
const shortAscent = 64

// tangled reports whether the rows of b are in order for short stretches only.
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

// ascent is the end of the sorted stretch that begins at from.
func (b *Batch) ascent(from int) int {
	times, index := b.Time, b.Index[:len(b.Time)]
	for i := from + 1; i < len(times); i++ {
		if times[i] < times[i-1] || times[i] == times[i-1] && index[i] < index[i-1] {
			return i
		}
	}
	return len(times)
}

// split separates the punctual rows, which are in order, from the late ones.
func (o *batchSorter) split(b *Batch) {
	o.punctual, o.late = o.punctual[:0], o.late[:0]
	last := b.key(0)
	for i := range b.Time {
		if k := b.key(i); k.Less(last) {
			o.late = append(o.late, place{k, int32(i)})
		} else {
			o.punctual = append(o.punctual, place{k, int32(i)})
			last = k
		}
	}
}

// radixRows is the number of rows from which on a radix sort is faster.
const radixRows = 128

// sortLate sorts the late rows. Their times are near each other, so a few bytes tell them
// apart, and the time and the place of a row fit into one number.
func (o *batchSorter) sortLate() {
	lowest, span := o.lateSpan()
	placeBits := bits.Len(uint(len(o.late)))
	if len(o.late) < radixRows || bits.Len64(span)+placeBits > 64 {
		sortPlaces(o.late)
		return
	}
	o.keys = o.keys[:0]
	for i := range o.late {
		o.keys = append(o.keys, (uint64(o.late[i].Time)-lowest)<<placeBits|uint64(i))
	}
	o.spareKeys = slices.Grow(o.spareKeys[:0], len(o.keys))[:len(o.keys)]
	for shift := placeBits; span != 0; shift, span = shift+8, span>>8 {
		sortByte(o.spareKeys, o.keys, shift)
		o.keys, o.spareKeys = o.spareKeys, o.keys
	}
	o.spare = o.spare[:0]
	for _, key := range o.keys {
		o.spare = append(o.spare, o.late[key&(1<<placeBits-1)])
	}
	o.late, o.spare = o.spare, o.late
	sortTies(o.late)
}

// lateSpan is the earliest time of the late rows, and how much later the last one is.
func (o *batchSorter) lateSpan() (lowest, span uint64) {
	if len(o.late) == 0 {
		return 0, 0
	}
	first, last := o.late[0].Time, o.late[0].Time
	for i := range o.late {
		first, last = min(first, o.late[i].Time), max(last, o.late[i].Time)
	}
	return uint64(first), uint64(last) - uint64(first)
}

// sortByte copies keys to to, sorted by one of their bytes; the sort is stable.
func sortByte(to, from []uint64, shift int) {
	var next [256]int32
	for _, key := range from {
		next[byte(key>>shift)]++
	}
	sum := int32(0)
	for i, n := range next {
		next[i] = sum
		sum += n
	}
	for _, key := range from {
		at := &next[byte(key>>shift)]
		to[*at] = key
		*at++
	}
}

// sortTies sorts rows of the same time by their index.
func sortTies(p []place) {
	for from := 0; from < len(p); {
		to := from + 1
		for to < len(p) && p[to].Time == p[from].Time {
			to++
		}
		if to-from > 1 {
			sortPlaces(p[from:to])
		}
		from = to
	}
}

func sortPlaces(p []place) {
	slices.SortFunc(p, func(a, b place) int { return a.Compare(b.Key) })
}

// merge finds the order of all rows.
func (o *batchSorter) merge() {
	o.order = o.order[:0]
	late := o.late
	for _, p := range o.punctual {
		for len(late) > 0 && late[0].Less(p.Key) {
			o.order, late = append(o.order, late[0].row), late[1:]
		}
		o.order = append(o.order, p.row)
	}
	for _, l := range late {
		o.order = append(o.order, l.row)
	}
}

// Select keeps the rows of b with these numbers, in that order. It builds them in the
// memory of spare, and leaves that of b there.
func (b *Batch) Select(order []int32, spare *Batch) {
	to := spare // texts of a column stay where they are: rows know their places
	permute(&b.Time, &to.Time, order)
	permute(&b.Index, &to.Index, order)
	permute(&b.Stack, &to.Stack, order)
	permute(&b.Weight, &to.Weight, order)
	permute(&b.CPU, &to.CPU, order)
	permute(&b.Phase, &to.Phase, order)
	permute(&b.Duration, &to.Duration, order)
	permute(&b.Value, &to.Value, order)
	permute(&b.Number, &to.Number, order)
	permute(&b.Thread, &to.Thread, order)
	permute(&b.Goroutine, &to.Goroutine, order)
	permute(&b.Labels, &to.Labels, order)
	permute(&b.Span, &to.Span, order)
	permute(&b.Address, &to.Address, order)
	for i := range b.Args {
		if len(to.Args) <= i {
			to.Args = append(to.Args, Column{})
		}
		permute(&b.Args[i].num, &to.Args[i].num, order)
		permute(&b.Args[i].kind, &to.Args[i].kind, order)
	}
}

// permute reorders a column, unless it is unused. It builds it in the memory of scratch,
// and leaves the column's there.
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
