package stream

import "math"

const (
	// maxStrands is how many runs are braided at most, because each row costs a comparison
	// with the next one of each.
	maxStrands = 16

	// farTime is how long, in ns, after the first row of a braid its other rows come at most.
	farTime = math.MaxInt64 / maxStrands

	// longStrand is the number of rows of one run after which runs no longer alternate.
	longStrand = longStretch
)

// braid gives places to the next rows of open runs that alternate. It ends where a block
// does, where the segment is full or another run is to be opened, and where rows of one
// run follow each other again. It returns false if there is no row that it can place.
//
// A heap finds the next row by branches, many of which the processor guesses wrong if runs
// alternate. So the next row is computed instead: it is the least of numbers that have the
// time of a row in their upper bits, and in the lowest ones which run it is of.
func (m *runMerger) braid(room *room) bool {
	if len(m.heap) < 2 || len(m.heap) > maxStrands {
		return false
	}
	base, end := uint64(m.heap[0].key.Time), uint64(farTime)
	if len(m.waiting) > 0 {
		end = min(end, uint64(m.waiting[0].key.Time)-base)
	}
	var numbers [maxStrands]uint64
	next := numbers[:len(m.heap)]
	for i, c := range m.heap {
		if c.pos == c.rows.batch.Len() { // keys are not unique, as they should be
			return false
		}
		next[i] = min(uint64(c.key.Time)-base, farTime)*maxStrands + uint64(i)
	}
	begin, rows := m.rows, room.rows
	for last, same := uint64(0), 0; m.rows-begin < rows && same < longStrand; {
		least, second := next[0], uint64(math.MaxUint64)
		for _, n := range next[1:] {
			second = min(second, max(least, n))
			least = min(least, n)
		}
		if least/maxStrands >= end {
			break
		}
		i := least % maxStrands
		if least/maxStrands == second/maxStrands {
			i = m.tie(next, least/maxStrands)
		}
		c := m.heap[i]
		b := &c.rows.batch
		if len(b.Args) > 0 && room.take(b, c.pos, c.pos+1) == 0 {
			break
		}
		c.rows.places[c.pos] = uint16(m.rows)
		m.rows++
		if c.pos++; c.pos == len(b.Time) {
			break
		}
		next[i] = min(uint64(b.Time[c.pos])-base, farTime)*maxStrands + i
		if same++; i != last {
			last, same = i, 0
		}
	}
	if len(m.heap[0].rows.batch.Args) == 0 {
		room.rows, room.used = rows-(m.rows-begin), true
	}
	for _, c := range m.heap {
		c.key = c.rows.batch.key(min(c.pos, c.rows.batch.Len()-1)) // of a block that ended, it is before all others
	}
	m.heap.init()
	return m.rows > begin
}

// tie is which of the runs whose next row has a time comes first.
func (m *runMerger) tie(next []uint64, time uint64) (first uint64) {
	least := uint64(math.MaxUint64)
	for i, n := range next {
		if c := m.heap[i]; n/maxStrands == time && c.rows.batch.Index[c.pos] <= least {
			first, least = uint64(i), c.rows.batch.Index[c.pos]
		}
	}
	return first
}

// placing says where rows from from to to-1 of a batch go in another one.
type placing struct {
	from, to int
	places   []uint16 // one of each; nil: at is that of the first, and the others follow
	at       int
	rows     int // that the other one has then at least
}

// place is that of the i-th row.
func (p *placing) place(i int) int {
	if p.places == nil {
		return p.at + i
	}
	return int(p.places[i])
}

// place copies rows of src, a batch of the same kind and number of arguments, to their
// places in b.
func (b *Batch) place(src *Batch, p *placing) {
	b.Time = placed(b.Time, src.Time, p)
	b.Index = placed(b.Index, src.Index, p)
	b.Stack = placed(b.Stack, src.Stack, p)
	b.Weight = placed(b.Weight, src.Weight, p)
	b.CPU = placed(b.CPU, src.CPU, p)
	b.Phase = placed(b.Phase, src.Phase, p)
	b.Duration = placed(b.Duration, src.Duration, p)
	b.Value = placed(b.Value, src.Value, p)
	b.Number = placed(b.Number, src.Number, p)
	b.Thread = placed(b.Thread, src.Thread, p)
	b.Goroutine = placed(b.Goroutine, src.Goroutine, p)
	b.Labels = placed(b.Labels, src.Labels, p)
	b.Span = placed(b.Span, src.Span, p)
	b.Address = placed(b.Address, src.Address, p)
	for i := range b.Args {
		b.Args[i].place(&src.Args[i], p)
	}
}

// placed copies rows of a column to their places in another. Both may be empty, if the
// kind does not use them or all their rows are 0; rows of the other one that have no place
// yet are 0.
func placed[T any](column, src []T, p *placing) []T {
	if len(column) < p.rows && (len(column) > 0 || len(src) > 0) {
		column = appendZeros(column, p.rows-len(column))
	}
	if len(src) == 0 {
		return column
	}
	src = src[p.from:p.to]
	if p.places == nil {
		copy(column[p.at:], src)
		return column
	}
	places := p.places[:len(src)]
	for i, v := range src {
		column[places[i]] = v
	}
	return column
}

// place copies arguments to their places. Texts follow those that are there.
func (c *Column) place(src *Column, p *placing) {
	c.kind, c.num = placed(c.kind, src.kind, p), placed(c.num, src.num, p)
	for i, kind := range src.kind[p.from:p.to] {
		if kind.Textual() {
			text := src.TextAt(p.from + i)
			c.data = append(c.data, text...)
			c.num[p.place(i)] = uint64(len(c.data)) | uint64(len(text))<<32
		}
	}
}
