package stream

import (
	"math"
	"slices"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

// key is the sort key of row i.
func (b *Batch) key(i int) runs.Key { return runs.Key{Time: int64(b.Time[i]), Index: b.Index[i]} }

// batchSorter sorts batches. It keeps its memory for the next one.
type batchSorter struct {
	keys    []uint64 // of rows: a digit of the time, then the row
	order   []int32
	columns Batch
}

// sort sorts the rows of b.
func (o *batchSorter) sort(b *Batch) {
	o.find(b)
	b.Select(o.order, &o.columns)
}

// find finds the order of the rows of b.
//
//  1. They are put into the order of their times but for the lowest bits, by a radix sort of two
//     digits: times of a batch are near each other.
//  2. Then rows are moved by a few places, or sorted by comparing them if times are so uneven that
//     these would be many.
func (o *batchSorter) find(b *Batch) {
	if b.Len() >= radixRows {
		o.order = slices.Grow(o.order[:0], b.Len())[:b.Len()]
		o.roughly(b.Time)
	} else {
		o.keep(b.Len())
	}
	if !o.settle(b) {
		slices.SortFunc(o.order, func(i, k int32) int { return b.key(int(i)).Compare(b.key(int(k))) })
	}
}

// keep makes the order of so many rows the one in which they are.
func (o *batchSorter) keep(rows int) {
	o.order = slices.Grow(o.order[:0], rows)[:rows]
	for i := range o.order {
		o.order[i] = int32(i)
	}
}

// shortAscent is the average length of sorted stretches from which on a batch need not be
// sorted.
const shortAscent = 64

// tangled reports whether the rows of b are in order for short stretches only.
func (b *Batch) tangled() bool {
	most := b.Len() / shortAscent
	for at := b.ascent(0); at < b.Len(); at = b.ascent(at) {
		if most--; most < 0 {
			return true
		}
	}
	return false
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

const (
	// radixRows is the number of rows from which on a radix sort is faster.
	radixRows = 64

	digitBits = 8
	digitMask = 1<<digitBits - 1

	// maxMoves is by how many places rows are moved at most, on average.
	maxMoves = 8
)

// roughly sorts rows by the upper bits of their times. Times that are so far apart that differences wrap come out wrong, which
// settle or comparing puts right.
func (o *batchSorter) roughly(times []Time) {
	first, size := pack.Span(times)
	dropped := uint(max(0, size-2*digitBits)) & 63
	var low, high [1 << digitBits]int32
	for _, t := range times {
		digits := (uint64(t) - first) >> dropped
		low[digits&digitMask]++
		high[digits>>digitBits&digitMask]++
	}
	begins(low[:])
	begins(high[:])
	o.keys = slices.Grow(o.keys[:0], len(times))[:len(times)]
	keys, order := o.keys, o.order
	for i, t := range times {
		digits := (uint64(t) - first) >> dropped
		at := &low[digits&digitMask]
		keys[*at] = digits>>digitBits<<32 | uint64(i)
		*at++
	}
	for _, key := range keys {
		at := &high[key>>32&digitMask]
		order[*at] = int32(key)
		*at++
	}
}

// settle sorts rows that are nearly in order; false if they aren't.
func (o *batchSorter) settle(b *Batch) bool {
	order, times := o.order, b.Time
	budget := maxMoves * len(order)
	last := Time(math.MinInt64)
	for i, row := range order {
		if t := times[row]; t > last {
			last = t
			continue
		}
		key, to := b.key(int(row)), i
		for ; to > 0 && key.Less(b.key(int(order[to-1]))); to-- {
			order[to] = order[to-1]
		}
		order[to] = row
		if budget -= i - to; budget < 0 {
			return false
		}
	}
	return true
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
