package firefox

import (
	"encoding/binary"
	"math"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/stream/spill"
)

// none is a value of a column that is null.
const none = math.MinInt64

// column is a column of numbers that is written after another one. Values are varints, which are
// tiny where they repeat or are small.
type column struct {
	roll *spill.Buffer
	buf  []byte // scratch
}

// newColumn returns a column that is kept in f.
func newColumn(f *spill.File) column { return column{roll: f.NewBuffer()} }

// columns are the columns of a table whose rows come one by one.
type columns []column

func newColumns(f *spill.File, n int) columns {
	c := make(columns, n)
	for i := range c {
		c[i] = newColumn(f)
	}
	return c
}

// add adds a row; flush must follow soon.
func (c columns) add(values ...int64) {
	for i, v := range values {
		c[i].add(v)
	}
}

func (c columns) flush() {
	for i := range c {
		c[i].flush()
	}
}

// add appends a value; flush must follow soon.
func (c *column) add(value int64) {
	// One more than its zigzag form: none, the lowest, becomes 0.
	c.buf = binary.AppendUvarint(c.buf, (uint64(value)<<1^uint64(value>>63))+1)
}

func (c *column) flush() {
	c.roll.Write(c.buf) // the file keeps the error
	c.buf = c.buf[:0]
}

// next takes the first value of a block.
func next(block []byte) (value int64, rest []byte) {
	u, n := binary.Uvarint(block)
	u--
	return int64(u>>1) ^ -int64(u&1), block[n:]
}

// block is some values of a column.
type block struct{ data []byte }

// format appends a value that is not none.
type format func(dst []byte, value int64) []byte

func appendInt(dst []byte, value int64) []byte { return jsontext.AppendInt(dst, value) }

func appendMicros(dst []byte, ns int64) []byte { return jsontext.AppendFixed(dst, ns, 3) }

// appendTo appends all values with commas between them.
func (b *block) appendTo(dst []byte, format format) []byte {
	for rest := b.data; len(rest) > 0; {
		var value int64
		if value, rest = next(rest); value == none {
			dst = append(dst, "null,"...)
		} else {
			dst = append(format(dst, value), ',')
		}
	}
	return dst[:len(dst)-1]
}

// writeColumn writes a member that is a column, and empties it.
func (s *Sink) writeColumn(key string, c *column, kind pipeline.Kind, format format) {
	s.out.Array(key)
	c.roll.Drain(func(data []byte) {
		b := s.blocks.Get()
		b.data = append(b.data[:0], data...)
		s.out.List(len(data), kind, func(dst []byte) []byte {
			dst = b.appendTo(dst, format)
			s.blocks.Put(b)
			return dst
		})
	})
	s.out.EndArray()
}

// member is how a column is written.
type member struct {
	key    string
	kind   pipeline.Kind
	format format
}

// writeColumns writes and empties columns as members.
func (s *Sink) writeColumns(c columns, members ...member) {
	for i, m := range members {
		s.writeColumn(m.key, &c[i], m.kind, m.format)
	}
}

// writeColumnTo is writeColumn to another writer.
func writeColumnTo(out *jsontext.Writer, key string, c *column, format format) {
	out.Array(key)
	c.roll.Drain(func(data []byte) {
		b := block{data}
		out.RawBytes(b.appendTo(nil, format))
	})
	out.EndArray()
}

// laterSection is text that is produced while threads are written, and follows them.
type laterSection struct {
	*jsontext.Writer
	roll *spill.Buffer
}

func newSection(f *spill.File) *laterSection {
	roll := f.NewBuffer()
	return &laterSection{jsontext.NewWriter(roll), roll}
}

// writeSection writes a member that is a section, between two brackets.
func (s *Sink) writeSection(key, begin string, x *laterSection, end string) {
	x.Flush() // the file keeps the error
	s.out.Value(key, begin)
	s.out.Flush()
	x.roll.Drain(func(text []byte) { s.out.Write(text) })
	s.out.Write([]byte(end))
}

// writeSections writes all of them.
func (s *Sink) writeSections() {
	s.writeSection("counters", "[", s.counted, "]")
	s.writeSection("profilerOverhead", "[", s.costs, "]")
	s.writeSection("pages", "[", s.visited, "]")
	s.writeSection("profilingLog", "{", s.logged, "}")
	s.writeSection("gprof", `{"processes":[`, s.about, "]}")
}
