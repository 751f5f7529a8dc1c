package stream

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

const (
	// maxSegment is how many rows a segment has at most.
	maxSegment = 8192

	// maxSegmentArgs is how many bytes of arguments it has at most, unless its
	// only row has more.
	maxSegmentArgs = 1 << 20

	// A run is read so many bytes at a time: fewer if there are many runs.
	minAhead, maxAhead = 4 << 10, 128 << 10
)

// room is what still fits into a block or a segment. The end of a block or a segment
// depends on its rows alone.
type room struct {
	rows, bytes int
	used        bool
}

// take returns how many of the rows from to to-1 of b fit into r, and takes their room.
// The first row always fits.
func (r *room) take(b *Batch, from, to int) int {
	return r.takeOf(b, &selection{from: from, to: to})
}

// takeOf is take for a selection of rows.
func (r *room) takeOf(b *Batch, of *selection) int {
	n := min(of.to-of.from, r.rows)
	if len(b.Args) > 0 {
		n = r.takeArgs(b, of, n)
	}
	r.rows -= n
	r.used = r.used || n > 0
	return n
}

func (r *room) takeArgs(b *Batch, of *selection, n int) int {
	for i := range n {
		size := b.argBytes(of.row(of.from + i))
		if size > r.bytes && (r.used || i > 0) {
			r.bytes = 0
			return i
		}
		r.bytes = max(r.bytes-size, 0)
	}
	return n
}

// runMerger gives the rows of the runs of one series in order.
//
//  1. A run is opened when its first row is due, and closed after its last one. So runs
//     that do not overlap are read one after the other, with the memory of one, and most
//     of their blocks are decoded to where their rows belong.
//  2. Of runs that overlap little, stretches of rows are copied. Where rows of several
//     alternate, each is only given its place in the segment: see braid.
//  3. Rows that have places are moved, column by column, when those of a block all have
//     them, or the segment is full.
type runMerger struct {
	store  *runs.Store
	memory int64 // for reading ahead

	cursors []cursor   // all, in memory that is used again: a dump may have many short series
	waiting []cursor   // not opened, by first row
	heap    cursorHeap // opened
	ahead   int
	free    []*openRun // of closed runs, for their memory
	rows    int        // of the segment that have places
	strands braider
}

// cursor is a position in a run.
type cursor struct {
	key  runs.Key // of that row
	run  *runs.Run
	rows *openRun // nil before its first row is due
	pos  int
}

// openRun is a run that is being read.
type openRun struct {
	reader  runs.Reader
	batch   Batch             // the block that was read last, but for its packed columns
	columns packedColumns     // of it
	moved   int               // how many of its rows were moved to the segment
	places  [blockRows]uint16 // in the segment, of rows that have one but were not moved
}

// start begins the merge of runs, which must be of one series.
func (m *runMerger) start(parts []runs.Run) {
	m.cursors, m.heap = m.cursors[:0], m.heap[:0]
	for i := range parts {
		m.cursors = append(m.cursors, cursor{key: parts[i].First, run: &parts[i]})
	}
	m.waiting = m.cursors
	slices.SortFunc(m.waiting, func(a, b cursor) int { return a.key.Compare(b.key) })
	m.ahead = min(max(int(m.memory)/max(len(parts), 1), minAhead), maxAhead)
}

// next adds the next segment to out, which was Reset for its series. If there are no more
// rows it adds none.
func (m *runMerger) next(out *Batch) error {
	room := room{rows: maxSegment, bytes: maxSegmentArgs}
	m.rows = 0
	short := 0 // stretches in turn
	for m.open() {
		c := m.heap[0]
		if more, err := m.ready(c, out, &room); err != nil {
			return err
		} else if !more {
			continue
		}
		b := &c.rows.batch
		to := b.until(c.pos, m.bound())
		if to-c.pos >= shortStretch {
			short = 0
		} else if short++; short > 1 && m.braid(&room) {
			continue
		}
		n := room.take(b, c.pos, to)
		if n == 0 {
			break
		}
		m.take(c, n, out)
	}
	for _, c := range m.heap {
		m.move(c, out)
	}
	return nil
}

// open opens the runs whose first row is due. It returns false if all runs were read.
func (m *runMerger) open() bool {
	for len(m.waiting) > 0 && (len(m.heap) == 0 || !m.due(m.heap[0])) {
		c := &m.waiting[0]
		m.waiting = m.waiting[1:]
		if n := len(m.free); n > 0 {
			c.rows, m.free = m.free[n-1], m.free[:n-1]
		} else {
			c.rows = &openRun{reader: m.store.NewReader()}
		}
		c.rows.batch.Reset(Series{}, 0)
		c.rows.moved = 0
		c.rows.reader.Reset(c.run, m.ahead)
		m.heap.push(c)
	}
	return len(m.heap) > 0
}

// due reports whether no row comes before that of a cursor.
func (m *runMerger) due(c *cursor) bool {
	return m.heap[0] == c && (len(m.waiting) == 0 || !m.waiting[0].key.Less(c.key))
}

// bound is the lowest key but for the first cursor's; the highest possible if no other run
// is left.
func (m *runMerger) bound() runs.Key {
	bound := m.heap.second()
	if len(m.waiting) > 0 && m.waiting[0].key.Less(bound) {
		return m.waiting[0].key
	}
	return bound
}

// ready makes the first cursor stand at a row. It returns false if its run has ended, and
// was closed, or if another cursor is the first now.
func (m *runMerger) ready(c *cursor, out *Batch, room *room) (more bool, err error) {
	if c.pos < c.rows.batch.Len() {
		return true, nil
	}
	m.move(c, out) // the batch is needed for the next block
	for {
		block, err := c.rows.reader.Next()
		switch {
		case err != nil:
			return false, fmt.Errorf("reading spilled rows: %w", err)
		case block == nil:
			m.close()
			return false, nil
		case !m.alone(c) || !room.takeBlock(block, out):
			err := m.load(c, block, out)
			return err == nil && m.due(c), err
		}
		// No other run has rows in between, so there is no need to move these.
		if err := readBlock(out, block); err != nil {
			return false, fmt.Errorf("reading spilled rows: %w", err)
		}
		m.rows = out.Len()
	}
}

// alone reports whether no other run has rows before the end of this one.
func (m *runMerger) alone(c *cursor) bool {
	return len(m.heap) == 1 && (len(m.waiting) == 0 || c.run.Last.Less(m.waiting[0].key))
}

// takeBlock takes the room for a whole block, if it fits. like is a batch of its series;
// with arguments a block never fits, because their size is not known yet.
func (r *room) takeBlock(block []byte, like *Batch) bool {
	n, _ := binary.Uvarint(block)
	if len(like.Args) > 0 || n > uint64(r.rows) {
		return false
	}
	r.rows -= int(n)
	r.used = true
	return true
}

// load takes a block of the series of like.
func (m *runMerger) load(c *cursor, block []byte, like *Batch) error {
	b := &c.rows.batch
	b.Reset(like.Series, len(like.Args))
	r := blockReader{Reader: pack.NewReader(block)}
	if err := r.unpacked(b); err != nil {
		return fmt.Errorf("reading spilled rows: %w", err)
	}
	c.rows.columns = r.columns
	c.pos, c.key, c.rows.moved = 0, b.key(0), 0
	m.heap.fix()
	return nil
}

// close removes the first cursor.
func (m *runMerger) close() {
	m.free = append(m.free, m.heap[0].rows)
	m.heap.pop()
}

const (
	// Stretches shorter than shortStretch, one after the other, mean that runs alternate.
	shortStretch = 8

	// longStretch is the length from which on copying rows at once costs less than giving
	// each a place.
	longStretch = 32
)

// take gives places at the end of the segment to the next n rows of the first cursor, or
// moves them there.
func (m *runMerger) take(c *cursor, n int, out *Batch) {
	b, to := &c.rows.batch, c.pos+n
	if n < longStretch {
		for i := range n {
			c.rows.places[c.pos+i] = uint16(m.rows + i)
		}
	} else {
		m.move(c, out)
		out.place(c.rows, &placing{from: c.pos, to: to, at: m.rows, rows: m.rows + n})
		c.rows.moved = to
	}
	c.pos, m.rows = to, m.rows+n
	if c.pos < b.Len() {
		c.key = b.key(c.pos)
		m.heap.fix()
	}
}

// move moves the rows of a cursor that have places there.
func (m *runMerger) move(c *cursor, out *Batch) {
	if r := c.rows; r.moved < c.pos {
		out.place(r, &placing{from: r.moved, to: c.pos, places: r.places[r.moved:c.pos], rows: m.rows})
		r.moved = c.pos
	}
}

// cursorHeap is a binary heap by key.
type cursorHeap []*cursor

func (h cursorHeap) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *cursorHeap) push(c *cursor) {
	*h = append(*h, c)
	all := *h
	for i := len(all) - 1; i > 0; {
		parent := (i - 1) / 2
		if !c.key.Less(all[parent].key) {
			return
		}
		all[i], all[parent] = all[parent], c
		i = parent
	}
}

// fix restores the order after the key of the first cursor changed.
func (h cursorHeap) fix() { h.down(0) }

func (h *cursorHeap) pop() {
	old := *h
	old[0] = old[len(old)-1]
	*h = old[:len(old)-1]
	h.down(0)
}

// second is the lowest key but for the first cursor's; the highest possible if there is
// no other cursor.
func (h cursorHeap) second() runs.Key {
	switch len(h) {
	case 1:
		return runs.Key{Time: math.MaxInt64, Index: math.MaxUint64}
	case 2:
		return h[1].key
	}
	if h[1].key.Less(h[2].key) {
		return h[1].key
	}
	return h[2].key
}

func (h cursorHeap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].key.Less(h[child].key) {
			child++
		}
		if !h[child].key.Less(h[i].key) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
