package firefox

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/spill"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// counter is the counter being written. A row holds the change since the row
// before it.
type counter struct {
	id      stream.CounterID // 0 before the first
	changes viewer.Changes
	rows    int64
	ops     bool // a number was seen
	time    column
	count   column
	number  column
}

func (c *counter) allocate(f *spill.File) {
	c.time, c.count, c.number = newColumn(f), newColumn(f), newColumn(f)
}

func (s *Sink) counts(b *stream.Batch) {
	c := &s.counter
	if id := b.Series.Counter; id != c.id {
		s.endCounter()
		c.id = id
	}
	c.changes.Rows(b, c.add)
	c.flush()
}

func (c *counter) add(change viewer.Change) {
	c.rows++
	c.ops = c.ops || change.Number != 0
	c.time.add(int64(change.At))
	c.count.add(change.Count)
	c.number.add(change.Number)
}

func (c *counter) flush() {
	c.time.flush()
	c.count.flush()
	c.number.flush()
}

// endCounter writes the counter whose rows have come, if there is one.
func (s *Sink) endCounter() {
	c := &s.counter
	if c.id == 0 {
		return
	}
	c.changes.End(c.add)
	c.flush()
	row := s.tables.Counters.At(c.id)
	look := lookOf(&row)
	out := s.counted.Writer
	out.BeginObject()
	for _, m := range []struct{ key, value string }{
		{"name", row.Name}, {"category", look.category}, {"description", row.Description}, {"pid", s.pid()},
	} {
		out.Key(m.key)
		out.String(m.value)
	}
	viewer.WriteCounterAbout(out, &row)
	out.Key("mainThreadIndex")
	out.Int(int64(s.main))
	out.Key("samples")
	s.writeCounts(out, look.format)
	out.Key("display")
	look.write(out, &row)
	out.EndObject()
	s.columns.Rewind()
	c.id, c.changes, c.rows, c.ops = 0, viewer.Changes{}, 0, false
}

// writeCounts writes the rows. Numbers of operations are left out if there are
// none.
func (s *Sink) writeCounts(out *jsontext.Writer, format format) {
	c := &s.counter
	out.BeginObject()
	writeColumnTo(out, "time", &c.time, s.appendTime)
	writeColumnTo(out, "count", &c.count, format)
	if c.ops {
		writeColumnTo(out, "number", &c.number, appendInt)
	} else {
		c.number.roll.Drain(func([]byte) {})
	}
	out.Key("length")
	out.Int(c.rows)
	out.EndObject()
}

// appendTime appends a stream.Time.
func (s *Sink) appendTime(dst []byte, at int64) []byte {
	return jsontext.AppendMillis(dst, s.ms(stream.Time(at)))
}
