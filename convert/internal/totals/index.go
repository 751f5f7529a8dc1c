package totals

import "gprof/stream"

// index finds the rows of a part. What it knows of an earlier part is not cleared, as that would take longer than
// many a part: it is of numbers that are not above base.
type index struct {
	base    int32   // numbers of rows begin above
	first   []int32 // by StackID: number of its first row
	further []int32 // numbers of others, by hash; its length is a power of two
	others  int     // in further
}

const (
	// maxOthers bounds the rows of a part besides one for each stack.
	maxOthers = 1 << 16

	// lastBase is far enough below the largest number for any part.
	lastBase = 1 << 30
)

func newIndex(stacks int) index {
	return index{first: make([]int32, stacks+1), further: make([]int32, 64)}
}

// find returns the number of the row of a key, above 0 and counted from base, or 0 and where that is to be stored.
func (x *index) find(p *Part, k key) (number int32, at *int32) {
	at = &x.first[k.stack]
	number = *at - x.base
	if number <= 0 || p.at(number-1).key == k {
		return max(0, number), at
	}
	mask := len(x.further) - 1
	for i := k.hash() & mask; ; i = (i + 1) & mask {
		at = &x.further[i]
		number = *at - x.base
		if number <= 0 || p.at(number-1).key == k {
			return max(0, number), at
		}
	}
}

// guess sets numbers to those which the rows of keys most likely have, 0 for none.
func (x *index) guess(p *Part, keys []key, numbers []int32) {
	for i := range keys {
		numbers[i] = x.first[keys[i].stack] - x.base
	}
	mask := len(x.further) - 1
	for i := range keys {
		if k := &keys[i]; numbers[i] > 0 && p.at(numbers[i]-1).key != *k {
			numbers[i] = x.further[k.hash()&mask] - x.base
		}
	}
	for i := range keys {
		if n := numbers[i]; n > 0 && p.at(n-1).stack != keys[i].stack {
			numbers[i] = 0
		}
	}
}

// isOther reports whether a place that find returned is not that of a stack's first row.
func (x *index) isOther(k key, at *int32) bool { return at != &x.first[k.stack] }

// note counts another row, which was stored last, and makes room for one more.
func (x *index) note(p *Part) {
	x.others++
	if 4*x.others <= 3*len(x.further) {
		return
	}
	was := x.further
	x.further = make([]int32, 2*len(was))
	mask := len(x.further) - 1
	for _, number := range was {
		if number > x.base {
			i := p.at(number-x.base-1).hash() & mask
			for x.further[i] != 0 {
				i = (i + 1) & mask
			}
			x.further[i] = number
		}
	}
}

// forget ends a part of so many rows.
func (x *index) forget(rows int) {
	x.base, x.others = x.base+int32(rows), 0
	if x.base > lastBase {
		clear(x.first)
		clear(x.further)
		x.base = 0
	}
}

func (k *key) hash() int {
	const odd = 0x9e3779b97f4a7c15
	h := (uint64(uint32(k.stack))<<32 | uint64(uint32(k.labels))) * odd
	h = (h ^ h>>32 ^ uint64(k.goroutine)) * odd
	h = (h ^ h>>32 ^ uint64(uint32(k.span))) * odd
	return int(h >> 33)
}

// spanNumbers numbers the spans of a part.
type spanNumbers struct {
	numbers map[stream.Span]int32
	last    stream.Span
	number  int32 // of last
}

func (n *spanNumbers) of(p *Part, s stream.Span) int32 {
	if s == n.last {
		return n.number
	}
	if s == (stream.Span{}) {
		return 0
	}
	number, ok := n.numbers[s]
	if !ok {
		if n.numbers == nil {
			n.numbers = make(map[stream.Span]int32)
		}
		p.spans = append(p.spans, s)
		number = int32(len(p.spans))
		n.numbers[s] = number
	}
	n.last, n.number = s, number
	return number
}

// reset begins another part. A large map takes long to clear, even for small parts.
func (n *spanNumbers) reset() {
	if len(n.numbers) > 1<<10 {
		n.numbers = nil
	}
	clear(n.numbers)
	n.last, n.number = stream.Span{}, 0
}
