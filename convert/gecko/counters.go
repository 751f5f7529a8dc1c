package gecko

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// counters is the list of counters. A row is a change.
type counters struct {
	id      stream.CounterID // being written, 0 before the first
	changes viewer.Changes
	ops     bool // a number was seen
}

func (c *counters) begin(s *Sink) {
	s.out.Array("counters")
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
	s.out.Member("category", s.titles.category(id, &c))
	s.out.Member("description", c.Description)
	viewer.WriteCounterAbout(s.out.Writer, &c)
	s.out.Object("samples")
	s.out.Array("data")
}

// Categories of counters that the viewer draws specially. It titles those of the first two by these
// words; of others it draws the change since the last row, without a unit, titled by name.
const (
	memory    = "Memory"    // a level in bytes
	bandwidth = "Bandwidth" // bytes of a network, shown with the climate cost of transfer
	power     = "power"     // energy
	untitled  = "Bytes"     // unknown to the viewer
)

// titleHolders is the one counter of each process that gets a category shown as its title: several
// would be indistinguishable.
type titleHolders map[title]stream.CounterID

type title struct {
	process  stream.ProcessID
	category string
}

// titlesOf picks them. Of several byte levels it is the first that the program itself calls memory;
// of several networks none, because their graph is the same without it.
func titlesOf(t *stream.Tables) titleHolders {
	all, several := titleHolders{}, map[title]bool{}
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

// titleOf is the category of a counter if it were the only one.
func titleOf(c *stream.Counter) string {
	switch {
	case c.Unit == stream.FormatBytes && !c.Total:
		return memory
	case c.Unit == stream.FormatBytes && (c.Category == "Network" || c.Category == bandwidth):
		return bandwidth
	}
	return ""
}

// category is a counter's category in the output.
func (t titleHolders) category(id stream.CounterID, c *stream.Counter) string {
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

// endCounter ends the counter. The schema follows the rows: only then it is known whether there are
// numbers of operations.
func (c *counters) endCounter(s *Sink) {
	if c.id == 0 {
		return
	}
	c.changes.End(func(change viewer.Change) { c.write(s, change) })
	s.lost.Repeated(s.tables.Counters.At(c.id).Process, c.changes.Repeated)
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

// write writes a row. The column of operations begins with the first of them.
func (c *counters) write(s *Sink, change viewer.Change) {
	c.ops = c.ops || change.Number != 0
	row := s.appendTime(append(s.row[:0], '['), change.At)
	row = jsontext.AppendInt(append(row, ','), change.Count)
	if c.ops {
		row = jsontext.AppendInt(append(row, ','), change.Number)
	}
	s.endRow(row)
}
