package gecko

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// counters is the list of counters. A row holds the change since the row
// before it.
type counters struct {
	id      stream.CounterID // being written, 0 before the first
	changes viewer.Changes
	ops     bool // a number was seen
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
	c.changes.Rows(b, func(change viewer.Change) { c.write(s, change) })
}

func (c *counters) end(s *Sink) {
	c.endCounter(s)
	s.out.EndArray()
}

func (s *Sink) beginCounter(c stream.Counter) {
	s.out.BeginObject()
	s.out.Member("name", c.Name)
	s.out.Member("category", counterCategory(&c))
	s.out.Member("description", c.Description)
	viewer.WriteCounterAbout(s.out.Writer, &c)
	s.out.Key("samples")
	s.out.BeginObject()
	s.out.Key("data")
	s.out.BeginArray()
}

// counterCategory is the category by which the viewer chooses how to draw a
// counter: Memory is a level in bytes (of that title, whatever its name),
// power is energy, and Bandwidth is bytes of a network, for which it tells what
// their transfer has cost the climate, and again titles them all the same. Of all
// others it draws the change since the last row, without a unit.
func counterCategory(c *stream.Counter) string {
	switch {
	case c.Unit == stream.FormatBytes && !c.Total:
		return "Memory"
	case c.Unit == stream.FormatBytes && c.Category == "Network":
		return "Bandwidth"
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
	c.changes.End(func(change viewer.Change) { c.write(s, change) })
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

// write writes a row. Columns of operations begin with the first of them.
func (c *counters) write(s *Sink, change viewer.Change) {
	c.ops = c.ops || change.Number != 0
	row := s.appendTime(append(s.row[:0], '['), change.At)
	row = jsontext.AppendInt(append(row, ','), change.Count)
	if c.ops {
		row = jsontext.AppendInt(append(row, ','), change.Number)
	}
	s.endRow(row)
}
