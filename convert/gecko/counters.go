package gecko

import (
	"strconv"

	"gprof/stream"
)

// counters is the list of counters. A row holds the change since the row
// before it. Rows without a change are left out, but for the first, the last
// and the one before a change: the viewer draws a line from row to row.
type counters struct {
	id     stream.CounterID // being written, 0 before the first
	any    bool             // a row was written
	value  int64            // of the last row, written or not
	number int64
	at     stream.Time // of the last row, if it was left out
	left   bool        // the last row was left out
	ops    bool        // a number was seen
}

func (c *counters) begin(s *Sink) {
	s.out.Key("counters")
	s.out.BeginArray()
}

func (c *counters) rows(s *Sink, b *stream.Batch) {
	if id := b.Series.Counter; id != c.id {
		c.endCounter(s)
		*c = counters{id: id}
		s.beginCounter(s.tables.Counters.At(id))
	}
	for i, at := range b.Time {
		value, number := b.Value[i], b.Number[i]
		if c.any && value == c.value && number == c.number {
			c.at, c.left = at, true
			continue
		}
		c.writeLeft(s)
		c.ops = c.ops || number != 0
		c.write(s, at, value-c.value, number-c.number)
		c.value, c.number = value, number
	}
}

func (c *counters) end(s *Sink) {
	c.endCounter(s)
	s.out.EndArray()
}

func (s *Sink) beginCounter(c stream.Counter) {
	s.out.BeginObject()
	s.member("name", c.Name)
	s.member("category", counterCategory(&c))
	s.member("description", c.Description)
	s.out.Key("samples")
	s.out.BeginObject()
	s.out.Key("data")
	s.out.BeginArray()
}

// counterCategory is the category by which the viewer chooses how to draw a
// counter: Memory is a level in bytes (of that title, whatever its name), power
// is energy. Of all others it draws the change since the last row.
func counterCategory(c *stream.Counter) string {
	switch {
	case c.Unit == stream.FormatBytes && !c.Total:
		return "Memory"
	case c.Unit == stream.FormatPicowatt:
		return "power"
	case c.Category != "":
		return c.Category
	case c.Unit == stream.FormatNanoseconds:
		return "CPU"
	}
	return stream.Other.Name
}

// endCounter ends the object of the counter. The schema comes behind the rows:
// only then it is known whether there are numbers of operations.
func (c *counters) endCounter(s *Sink) {
	if c.id == 0 {
		return
	}
	c.writeLeft(s)
	s.out.EndArray()
	s.out.Key("schema")
	if c.ops {
		s.out.Raw(`{"time":0,"count":1,"number":2}`)
	} else {
		s.out.Raw(`{"time":0,"count":1}`)
	}
	s.out.EndObject()
	s.out.EndObject()
}

// writeLeft writes the last row if it was left out.
func (c *counters) writeLeft(s *Sink) {
	if c.left {
		c.left = false
		c.write(s, c.at, 0, 0)
	}
}

func (c *counters) write(s *Sink, at stream.Time, count, number int64) {
	row := s.appendTime(append(s.row[:0], '['), at)
	row = strconv.AppendInt(append(row, ','), count, 10)
	if c.ops {
		row = strconv.AppendInt(append(row, ','), number, 10)
	}
	s.endRow(row)
	c.any = true
}
