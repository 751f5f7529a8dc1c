package stream

import (
	"math"
	"sort"

	"gprof/stream/internal/pack"
)

// braider finds the order of rows of several runs.
type braider struct {
	rows   Batch // their keys, run by run
	run    []uint16
	next   []int // scratch
	sorter batchSorter
}

// maxStrands is how many runs are braided at most.
const maxStrands = 512

// braid gives places to the next rows of open runs that alternate: all that come before any block
// ends or another run is to be opened, as far as there is room. It returns false if there are none.
//
// A heap finds the next row by branches, many of which the processor guesses wrong if runs
// alternate. Sorting all rows anew takes less time.
func (m *runMerger) braid(room *room) bool {
	if len(m.heap) < 2 || len(m.heap) > maxStrands || room.rows == 0 {
		return false
	}
	m.strands.find(m.heap, m.braidEnd())
	order := m.strands.sorter.order
	order = order[:m.fitting(order, room)]
	if len(order) == 0 {
		return false
	}
	for i, row := range order {
		c := m.heap[m.strands.run[row]]
		c.rows.places[c.pos] = uint16(m.rows + i)
		c.pos++
	}
	m.rows += len(order)
	for _, c := range m.heap {
		c.key = c.rows.batch.key(c.pos)
	}
	m.heap.init()
	return true
}

// fitting is how many rows of the order fit, of which it takes the room.
func (m *runMerger) fitting(order []int32, room *room) int {
	if len(m.heap[0].rows.batch.Args) == 0 {
		return room.take(&m.strands.rows, 0, len(order))
	}
	next := m.strands.next[:0] // of each run
	for _, c := range m.heap {
		next = append(next, c.pos)
	}
	m.strands.next = next
	for i, row := range order {
		run := m.strands.run[row]
		if room.take(&m.heap[run].rows.batch, next[run], next[run]+1) == 0 {
			return i
		}
		next[run]++
	}
	return len(order)
}

// braidEnd is the time before which no block ends and no other run is to be opened.
func (m *runMerger) braidEnd() Time {
	end := Time(math.MaxInt64)
	for _, c := range m.heap {
		times := c.rows.batch.Time
		end = min(end, times[len(times)-1])
	}
	if len(m.waiting) > 0 {
		end = min(end, Time(m.waiting[0].key.Time))
	}
	return end
}

// find finds the order of the rows before end.
func (s *braider) find(heap cursorHeap, end Time) {
	s.rows.Time, s.rows.Index, s.run = s.rows.Time[:0], s.rows.Index[:0], s.run[:0]
	for i, c := range heap {
		b := &c.rows.batch
		n := sort.Search(b.Len()-c.pos, func(i int) bool { return b.Time[c.pos+i] >= end })
		s.rows.Time = append(s.rows.Time, b.Time[c.pos:c.pos+n]...)
		s.rows.Index = append(s.rows.Index, b.Index[c.pos:c.pos+n]...)
		all, added := pack.Extend(s.run, n)
		for k := range added {
			added[k] = uint16(i)
		}
		s.run = all
	}
	s.sorter.find(&s.rows)
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

// place moves rows of an open run, of a series with the same kind and number of arguments, to their
// places in b.
func (b *Batch) place(r *openRun, p *placing) {
	src := &r.batch
	b.Time = placed(b.Time, src.Time, p)
	b.Index = placed(b.Index, src.Index, p)
	b.Value = placed(b.Value, src.Value, p)
	if len(b.Span) > 0 && len(b.Span) < p.rows || len(src.Span) > 0 {
		b.Span = placed(appendZeros(b.Span, max(0, p.rows-len(b.Span))), src.Span, p)
	}
	r.columns.place(b, p)
	for i := range b.Args {
		b.Args[i].place(&src.Args[i], p)
	}
}

// placed copies rows of a column to their places in another, unless there are none.
func placed[T any](column, src []T, p *placing) []T {
	if len(src) == 0 {
		return column
	}
	if n := p.rows - len(column); n > 0 {
		column, _ = pack.Extend(column, n) // all rows will be placed
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
