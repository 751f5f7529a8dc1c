package stream

import (
	"math/bits"
	"slices"

	"gprof/stream/internal/runs"
)

// key is what row i is ordered by.
func (b *Batch) key(i int) runs.Key { return runs.Key{Time: int64(b.Time[i]), Index: b.Index[i]} }

// batchSorter sorts batches. It holds memory for that.
type batchSorter struct {
	punctual, late []place
	spare          []place
	keys           []uint64 // of the late ones
	spareKeys      []uint64
	order          []int32
	columns        Batch
}

// place is a row of a batch.
type place struct {
	runs.Key
	row int32
}

// sort orders the rows of b.
//
//  1. The late ones, which come after a row that should follow them, are taken
//     out and sorted by themselves. An interval is late when another that began
//     in it has been recorded before; a sample when it lay in a ring.
//  2. Both are merged.
func (o *batchSorter) sort(b *Batch) {
	o.split(b)
	o.sortLate()
	o.merge()
	b.Select(o.order, &o.columns)
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

// radixRows is from how many rows on a radix sort is faster.
const radixRows = 128

// sortLate sorts the late rows. Their times lie near each other, so that a few
// of their bytes tell them apart, and a number has room for one's time and place.
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

// lateSpan is the earliest time of the late rows, and how far behind it the last
// one is.
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

// sortByte puts the keys of from into to by one of their bytes, those with the
// same in the order in which they were.
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

// sortTies sorts those that have the same time.
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

// Select leaves of b the rows of these numbers, in their order. It takes the memory of
// spare for that, which gets that of b.
func (b *Batch) Select(order []int32, spare *Batch) {
	to := spare // texts of a column stay where they are: rows know where theirs is
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
	for i := range b.Args {
		if len(to.Args) <= i {
			to.Args = append(to.Args, Column{})
		}
		permute(&b.Args[i].num, &to.Args[i].num, order)
		permute(&b.Args[i].kind, &to.Args[i].kind, order)
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
