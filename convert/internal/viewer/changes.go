package viewer

import "gprof/stream"

// Change is a row of a counter as the viewer wants it: what came to it since
// the row before.
type Change struct {
	At            stream.Time
	Count, Number int64 // of the value; operations
}

// Changes makes the rows of a counter, by Gecko's rule. These are left out: rows
// that are as the last one written, but for the first, for the first one behind a
// change, which says that it was all, and for the last. The last one that was left
// out before a change is written: the viewer draws a line from row to row.
type Changes struct {
	rows    int      // that came
	before  [2]level // of them, the last two, the latest first
	written level
	at      stream.Time // of the last row, if it was left out
	left    bool        // the last row was left out
}

// level is what a counter stands at.
type level struct{ value, number int64 }

// Rows takes rows of the counter, and calls write for each change.
func (c *Changes) Rows(b *stream.Batch, write func(Change)) {
	for i, at := range b.Time {
		now := level{b.Value[i], b.Number[i]}
		changed := c.rows == 0 || now != c.written
		settled := c.rows >= 2 && c.before[1] != c.written
		c.rows, c.before = c.rows+1, [2]level{now, c.before[0]}
		if !changed && !settled {
			c.at, c.left = at, true
			continue
		}
		c.End(write)
		write(Change{at, now.value - c.written.value, now.number - c.written.number})
		c.written = now
	}
}

// End calls write for the last row if it was left out.
func (c *Changes) End(write func(Change)) {
	if c.left {
		c.left = false
		write(Change{At: c.at})
	}
}
