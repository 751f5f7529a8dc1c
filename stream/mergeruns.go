package stream

import (
	"encoding/binary"
	"fmt"
	"math"

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

// runMerger gives the rows of the runs of one series in order.
//
// A run is opened when its first row is due, and closed after its last one. So runs that
// do not overlap are read one after the other, with the memory of one.
type runMerger struct {
	store  *runs.Store
	memory int64 // for reading ahead

	heap      cursorHeap
	ahead     int
	free      []*openRun // of closed runs, for their memory
	stretches []stretch  // due, not in the segment yet
	owners    bool       // some row has an owner
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
	reader runs.Reader
	batch  Batch // the block that was read last
}

// stretch is consecutive rows of one block.
type stretch struct {
	batch    *Batch
	from, to int
}

// start begins the merge of runs, which must be of one series.
func (m *runMerger) start(parts []runs.Run) {
	all := make([]cursor, len(parts))
	m.heap, m.owners = m.heap[:0], false
	for i := range parts {
		all[i] = cursor{key: parts[i].First, run: &parts[i]}
		m.heap = append(m.heap, &all[i])
	}
	m.heap.init()
	m.ahead = min(max(int(m.memory)/max(len(parts), 1), minAhead), maxAhead)
}

// next adds the next segment to out, which was Reset for its series. If there are no more
// rows it adds none.
func (m *runMerger) next(out *Batch) error {
	room := room{rows: maxSegment, bytes: maxSegmentArgs}
	for len(m.heap) > 0 {
		c := m.heap[0]
		if more, err := m.ready(c, out, &room); err != nil {
			return err
		} else if !more {
			continue
		}
		b := &c.rows.batch
		n := room.take(b, c.pos, b.until(c.pos, m.heap.second()))
		if n == 0 {
			break
		}
		m.stretches = append(m.stretches, stretch{b, c.pos, c.pos + n})
		if c.pos += n; c.pos < b.Len() {
			c.key = b.key(c.pos)
			m.heap.fix()
		}
	}
	m.gather(out)
	return nil
}

// ready makes the first cursor stand at a row. It returns false if its run has ended, and
// was closed, or if another cursor is the first now.
func (m *runMerger) ready(c *cursor, out *Batch, room *room) (more bool, err error) {
	if c.rows == nil {
		m.open(c)
	} else if c.pos < c.rows.batch.Len() {
		return true, nil
	}
	m.gather(out) // the batch is needed for the next block
	for {
		block, err := c.rows.reader.Next()
		switch {
		case err != nil:
			return false, fmt.Errorf("reading spilled rows: %w", err)
		case block == nil:
			m.close()
			return false, nil
		case len(m.heap) > 1 || !room.takeBlock(block, out):
			err := m.load(c, block, out)
			return m.heap[0] == c, err
		}
		// No other run has rows in between, so there is no need to move these.
		if err := readBlock(out, block); err != nil {
			return false, fmt.Errorf("reading spilled rows: %w", err)
		}
		m.owners = m.owners || out.hasSparse()
	}
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

// load decodes a block of the series of like.
func (m *runMerger) load(c *cursor, block []byte, like *Batch) error {
	b := &c.rows.batch
	b.Reset(like.Series, len(like.Args))
	if err := readBlock(b, block); err != nil {
		return fmt.Errorf("reading spilled rows: %w", err)
	}
	c.pos, c.key = 0, b.key(0)
	m.owners = m.owners || b.hasSparse()
	m.heap.fix()
	return nil
}

// open begins to read a run.
func (m *runMerger) open(c *cursor) {
	if n := len(m.free); n > 0 {
		c.rows, m.free = m.free[n-1], m.free[:n-1]
	} else {
		c.rows = &openRun{reader: m.store.NewReader()}
	}
	c.rows.batch.Reset(Series{}, 0)
	c.rows.reader.Reset(c.run, m.ahead)
}

// close removes the first cursor.
func (m *runMerger) close() {
	m.free = append(m.free, m.heap[0].rows)
	m.heap.pop()
}

// gather moves the rows that are due to out.
func (m *runMerger) gather(out *Batch) {
	for _, s := range m.stretches {
		if s.to-s.from < shortStretch && out.Series.Kind == Samples {
			out.appendSamples(s, m.owners)
		} else {
			out.AppendRows(s.batch, s.from, s.to)
		}
	}
	m.stretches = m.stretches[:0]
}

// shortStretch is the length from which on moving columns costs less than moving row by
// row. If samples of several writers alternate, stretches are shorter.
const shortStretch = 8

// appendSamples is AppendRows for a short stretch of samples; owners says whether any row
// of the series has an owner.
func (b *Batch) appendSamples(s stretch, owners bool) {
	from := s.batch
	for i := s.from; i < s.to; i++ {
		b.Time = append(b.Time, from.Time[i])
		b.Index = append(b.Index, from.Index[i])
		b.Stack = append(b.Stack, from.Stack[i])
		b.Weight = append(b.Weight, from.Weight[i])
		b.CPU = append(b.CPU, from.CPU[i])
		if owners {
			b.AppendOwner(from.Owner(i))
		}
	}
}

// cursorHeap is a binary heap by key.
type cursorHeap []*cursor

func (h cursorHeap) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
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
