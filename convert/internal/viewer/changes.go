package viewer

import "gprof/stream"

// Change is a row of a counter as the viewer wants it: what came to it since
// the row before.
type Change struct {
	At            stream.Time
	Count, Number int64 // of the value; operations
}

// Changes makes the rows of a counter. Rows without a change are left out, but
// for the first, the last and the one before a change: the viewer draws a line
// from row to row.
type Changes struct {
	any    bool  // a row was written
	value  int64 // of the last row, written or not
	number int64
	at     stream.Time // of the last row, if it was left out
	left   bool        // the last row was left out
}

// Rows takes rows of the counter, and calls write for each change.
func (c *Changes) Rows(b *stream.Batch, write func(Change)) {
	for i, at := range b.Time {
		value, number := b.Value[i], b.Number[i]
		if c.any && value == c.value && number == c.number {
			c.at, c.left = at, true
			continue
		}
		c.End(write)
		write(Change{at, value - c.value, number - c.number})
		c.any, c.value, c.number = true, value, number
	}
}

// End calls write for the last row if it was left out.
func (c *Changes) End(write func(Change)) {
	if c.left {
		c.left = false
		write(Change{At: c.at})
	}
}
