package stream

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"math"
)

const (
	// maxSegment is how many rows a segment has at most.
	maxSegment = 8192

	// maxSegmentArgs is how many bytes of arguments it has at most, unless its
	// only row has more.
	maxSegmentArgs = 1 << 20
)

// room is what still fits into a block or a segment. Where one ends depends on
// its rows alone.
type room struct {
	rows, bytes int
	used        bool
}

// take returns how many rows of b, of those from from to to-1, fit into r, and
// takes their room. The first row of all always fits.
func (r *room) take(b *Batch, from, to int) int {
	n := min(to-from, r.rows)
	if len(b.Args) > 0 {
		n = r.takeArgs(b, from, n)
	}
	r.rows -= n
	r.used = r.used || n > 0
	return n
}

func (r *room) takeArgs(b *Batch, from, n int) int {
	for i := range n {
		size := b.argBytes(from + i)
		if size > r.bytes && (r.used || i > 0) {
			r.bytes = 0
			return i
		}
		r.bytes = max(r.bytes-size, 0)
	}
	return n
}

// merger gives the rows of the runs of one series in order.
//
// A run is opened when its first row is due, and closed after its last one. So
// runs that do not overlap are read one after the other, with the memory of
// one.
type merger struct {
	spill *spill
	heap  cursors
	free  []*cursor // closed ones, for their memory
}

// cursor stands at a row of a run.
type cursor struct {
	run    run
	rows   *Batch // one block, or the whole run; nil before it is opened
	pos    int
	block  Batch
	blocks blocks
}

// start makes m give the rows of runs, which must be of the series s.
func (m *merger) start(runs []run) {
	m.heap = m.heap[:0]
	for _, r := range runs {
		c := m.cursor()
		c.run = r
		m.heap = append(m.heap, c)
	}
	heap.Init(&m.heap)
}

func (m *merger) cursor() *cursor {
	n := len(m.free)
	if n == 0 {
		return new(cursor)
	}
	c := m.free[n-1]
	m.free = m.free[:n-1]
	return c
}

// next adds the next segment to out, which was Reset for its series; none if
// there are no more rows.
func (m *merger) next(out *Batch) error {
	room := room{rows: maxSegment, bytes: maxSegmentArgs}
	for len(m.heap) > 0 {
		c := m.heap[0]
		if err := c.open(m.spill, out); err != nil {
			return err
		}
		n := room.take(c.rows, c.pos, c.rows.until(c.pos, m.bound()))
		if n == 0 {
			return nil
		}
		out.AppendRows(c.rows, c.pos, c.pos+n)
		if err := m.advance(n, out); err != nil {
			return err
		}
	}
	return nil
}

// bound is the key up to which the first cursor's rows come before all others'.
func (m *merger) bound() sortKey {
	bound := sortKey{math.MaxInt64, math.MaxUint64}
	for _, c := range m.heap[min(1, len(m.heap)):min(3, len(m.heap))] {
		if k := c.key(); k.compare(bound) < 0 {
			bound = k
		}
	}
	return bound
}

// advance moves the first cursor on by n rows.
func (m *merger) advance(n int, like *Batch) error {
	c := m.heap[0]
	c.pos += n
	if c.pos == c.rows.Len() {
		if err := c.load(like); errors.Is(err, io.EOF) {
			heap.Pop(&m.heap)
			c.rows = nil
			m.free = append(m.free, c)
			return nil
		} else if err != nil {
			return err
		}
	}
	heap.Fix(&m.heap, 0)
	return nil
}

// open loads the first rows of the run, unless that was done.
func (c *cursor) open(s *spill, like *Batch) error {
	if c.rows != nil {
		return nil
	}
	if c.run.rows != nil {
		c.rows, c.pos = c.run.rows, 0
		return nil
	}
	c.blocks.reset(s, &c.run)
	return c.load(like)
}

// load reads the next block, of a series as that of like, or returns io.EOF.
func (c *cursor) load(like *Batch) error {
	if c.run.rows != nil {
		return io.EOF
	}
	c.block.Reset(like.Series, len(like.Args))
	if err := c.blocks.next(&c.block); err != nil {
		return fmt.Errorf("reading spilled rows: %w", err)
	}
	c.rows, c.pos = &c.block, 0
	return nil
}

func (c *cursor) key() sortKey {
	if c.rows == nil {
		return c.run.first
	}
	return c.rows.key(c.pos)
}

// cursors is a heap by key.
type cursors []*cursor

func (h cursors) Len() int           { return len(h) }
func (h cursors) Less(i, j int) bool { return h[i].key().compare(h[j].key()) < 0 }
func (h cursors) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *cursors) Push(c any)        { *h = append(*h, c.(*cursor)) }
func (h *cursors) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}
