package stream

import (
	"container/heap"
	"fmt"
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
	free  []*blocks // of closed runs, for their memory
}

// cursor stands at a row of a run.
type cursor struct {
	run    run
	rows   *Batch // one block, or the whole run; nil before it is opened
	pos    int
	blocks *blocks // nil unless the run is open and in the spill file
}

// start makes m give the rows of runs, which must be of one series.
func (m *merger) start(runs []run) {
	all := make([]cursor, len(runs))
	m.heap = m.heap[:0]
	for i, r := range runs {
		all[i].run = r
		m.heap = append(m.heap, &all[i])
	}
	heap.Init(&m.heap)
}

// next adds the next segment to out, which was Reset for its series; none if
// there are no more rows.
func (m *merger) next(out *Batch) error {
	room := room{rows: maxSegment, bytes: maxSegmentArgs}
	for len(m.heap) > 0 {
		c := m.heap[0]
		if err := m.open(c, out); err != nil {
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
		if !c.more() {
			m.close()
			return nil
		}
		if err := c.load(like); err != nil {
			return err
		}
	}
	heap.Fix(&m.heap, 0)
	return nil
}

// open loads the first rows of a run, unless that was done.
func (m *merger) open(c *cursor, like *Batch) error {
	if c.rows != nil {
		return nil
	}
	if c.run.rows != nil {
		c.rows = c.run.rows
		return nil
	}
	if n := len(m.free); n > 0 {
		c.blocks, m.free = m.free[n-1], m.free[:n-1]
	} else {
		c.blocks = new(blocks)
	}
	c.blocks.reset(m.spill, &c.run)
	return c.load(like)
}

// close takes the first cursor away.
func (m *merger) close() {
	c := heap.Pop(&m.heap).(*cursor)
	if c.blocks != nil {
		m.free = append(m.free, c.blocks)
	}
}

// more says whether the run has more blocks.
func (c *cursor) more() bool { return c.blocks != nil && c.blocks.left > 0 }

// load reads the next block, of a series as that of like.
func (c *cursor) load(like *Batch) error {
	rows := &c.blocks.rows
	rows.Reset(like.Series, len(like.Args))
	if err := c.blocks.next(rows); err != nil {
		return fmt.Errorf("reading spilled rows: %w", err)
	}
	c.rows, c.pos = rows, 0
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
