package gecko

import (
	"gprof/stream"
)

// Bounds of the rows that are collected before they are given away.
const (
	maxBatch = 1024
	maxRows  = 64 << 10
	maxBytes = 8 << 20 // of texts
)

// collector makes batches of rows that come in any order.
type collector struct {
	t       *stream.Tables
	yield   func(*stream.Batch) bool
	stopped bool // nobody wants more
	last    map[stream.ProcessID]uint64
	latest  stream.Time
	asked   int

	open  map[stream.Series]*stream.Batch
	order []stream.Series // of open, as they came
	rows  int
	bytes int
}

// row returns the batch of a series to which the caller adds a row, in all
// columns but the index; it begins and ends at those times.
func (c *collector) row(s stream.Series, at, end stream.Time) *stream.Batch {
	if c.rows >= maxRows || c.bytes >= maxBytes {
		c.flush()
	}
	b := c.open[s]
	if b != nil && b.Len() >= maxBatch {
		c.give(b)
		b.Reset(s, c.t.Args(s))
	}
	if b == nil {
		b = new(stream.Batch)
		b.Reset(s, c.t.Args(s))
		if c.open == nil {
			c.open = map[stream.Series]*stream.Batch{}
		}
		c.open[s] = b
		c.order = append(c.order, s)
	}
	c.last[s.Process]++
	b.Time, b.Index = append(b.Time, at), append(b.Index, c.last[s.Process])
	c.rows++
	c.latest = max(c.latest, at, end)
	return b
}

func (c *collector) give(b *stream.Batch) {
	if !c.stopped && b.Len() > 0 {
		c.stopped = !c.yield(b)
	}
}

// flush gives all rows away.
func (c *collector) flush() {
	for _, s := range c.order {
		c.give(c.open[s])
	}
	clear(c.open)
	c.order, c.rows, c.bytes = c.order[:0], 0, 0
}
