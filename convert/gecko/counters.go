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
		s.beginCounter(id)
	}
	c.changes.Rows(b, func(change viewer.Change) { c.write(s, change) })
}

func (c *counters) end(s *Sink) {
	c.endCounter(s)
	s.out.EndArray()
}

func (s *Sink) beginCounter(id stream.CounterID) {
	c := s.tables.Counters.At(id)
	s.out.BeginObject()
	s.out.Member("name", c.Name)
	s.out.Member("category", s.titled.category(id, &c))
	s.out.Member("description", c.Description)
	viewer.WriteCounterAbout(s.out.Writer, &c)
	s.out.Key("samples")
	s.out.BeginObject()
	s.out.Key("data")
	s.out.BeginArray()
}

// Categories of counters by which the viewer chooses how to draw them. It titles those of
// the first two by these words, whatever they are called; of all others it draws the change
// since the last row, without a unit, and titles them by their names.
const (
	memory    = "Memory"    // a level in bytes
	bandwidth = "Bandwidth" // bytes of a network, with what their transfer has cost the climate
	power     = "power"     // energy
	untitled  = "Bytes"     // means nothing to the viewer
)

// titled is the counter of each process, if any, that may have each of the categories that
// become titles: of several nobody could tell which is which.
type titled map[title]stream.CounterID

type title struct {
	process  stream.ProcessID
	category string
}

// titledOf chooses them. Of several levels in bytes it is the first that the program itself
// calls memory; of several networks none, for their graph is the same without it.
func titledOf(t *stream.Tables) titled {
	all, several := titled{}, map[title]bool{}
	for id := stream.CounterID(1); int(id) <= t.Counters.Len(); id++ {
		c := t.Counters.At(id)
		key := title{c.Process, titleOf(&c)}
		first, known := all[key]
		switch {
		case key.category == "":
		case !known:
			all[key] = id
		case key.category == bandwidth:
			several[key] = true
		case c.Category == memory && t.Counters.At(first).Category != memory:
			all[key] = id
		}
	}
	for key := range several {
		delete(all, key)
	}
	return all
}

// titleOf is the category that a counter would have if it were the only one.
func titleOf(c *stream.Counter) string {
	switch {
	case c.Unit == stream.FormatBytes && !c.Total:
		return memory
	case c.Unit == stream.FormatBytes && (c.Category == "Network" || c.Category == bandwidth):
		return bandwidth
	}
	return ""
}

// category is that which a counter has in the output.
func (t titled) category(id stream.CounterID, c *stream.Counter) string {
	category := titleOf(c)
	switch {
	case category != "" && t[title{c.Process, category}] == id:
		return category
	case c.Unit == stream.FormatPicowatt:
		return power
	case c.Category == memory || c.Category == bandwidth || c.Category == power:
		return untitled
	case c.Category != "":
		return c.Category
	case c.Unit == stream.FormatNanoseconds:
		return "CPU"
	case c.Unit == stream.FormatBytes:
		return untitled
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
