package parquet

import (
	"io"
	"unicode/utf8"

	pq "github.com/parquet-go/parquet-go"
)

const (
	// rowGroup is how many rows a row group has at most: the window of memory,
	// and what statistics let a reader skip.
	rowGroup = 131_072
	// groupBytes ends a row group of long texts earlier.
	groupBytes = 16 << 20
	// pageBytes is the size of a page of a column, before it is compressed, and
	// minPageBytes that of one where there are many tables: see pageSize.
	pageBytes, minPageBytes = 64 << 10, 2 << 10
	// pending is from how many values of a column on they are put into pages.
	pending = 8192
)

// table is one file that is being written.
type table struct {
	columns []column
	file    io.WriteCloser
	out     *pq.GenericWriter[any]
	leaves  []*pq.ColumnWriter
	scratch *scratch
	rows    int // of the row group
	bytes   int // of texts in the row group
	err     error
}

// scratch is the values of rows that are not yet in pages. All tables of a sink
// take turns with it.
type scratch struct {
	owner *table
	cells []cells
	next  int // column
	rows  int
	bytes int // of texts
}

// cells is some values of one leaf.
type cells struct {
	leaf    int
	defined int // the definition level of a value
	values  []pq.Value
	bytes   *int
}

// pageSize is how large pages are if that many tables may be open at a time:
// each of some ten columns of an open one has a buffer of that size.
func pageSize(tables int) int {
	const all = 32 << 20
	return min(max(all/10/max(tables, 1), minPageBytes), pageBytes)
}

// newTable begins a file.
func (s *Sink) newTable(file io.WriteCloser, def definition) *table {
	var order []pq.SortingColumn
	for _, column := range def.sorted {
		order = append(order, pq.Ascending(column))
	}
	t := &table{columns: def.columns, file: file, scratch: &s.scratch}
	t.out = pq.NewGenericWriter[any](file,
		pq.NewSchema(def.name, schemaOf(def.columns)),
		pq.Compression(&s.codec),
		pq.PageBufferSize(s.pageBytes),
		pq.CreatedBy("gprof", "1.0.0", "0"),
		pq.KeyValueMetadata("gprof.tables", Version),
		pq.SortingWriterConfig(pq.SortingColumns(order...)),
	)
	t.leaves = t.out.ColumnWriters()
	return t
}

// begin begins a row, or rows of which all columns come at once.
func (t *table) begin() *scratch {
	if t.scratch.owner != t {
		t.scratch.flush()
		t.scratch.take(t)
	}
	t.scratch.next = 0
	return t.scratch
}

// take makes a scratch ready for rows of t.
func (s *scratch) take(t *table) {
	s.owner = t
	leaf := 0
	for i, c := range t.columns {
		if i == len(s.cells) {
			s.cells = append(s.cells, cells{bytes: &s.bytes})
		}
		s.cells[i].leaf, s.cells[i].defined = leaf, c.defined()
		s.cells[i].values = s.cells[i].values[:0]
		leaf++
	}
}

// column returns the next column of the row.
func (s *scratch) column() *cells {
	s.next++
	return &s.cells[s.next-1]
}

// end ends n rows. Values may point to memory that changes later: who has such
// calls flush before.
func (s *scratch) end(n int) {
	s.rows += n
	for i := range s.owner.columns {
		if len(s.cells[i].values) >= pending {
			s.flush()
			return
		}
	}
	if s.bytes >= groupBytes/4 {
		s.flush()
	}
}

// flush puts the rows into pages of their table.
func (s *scratch) flush() {
	if s.owner != nil && s.rows > 0 {
		s.owner.put(s)
	}
	s.rows, s.bytes = 0, 0
	for i := range s.cells {
		s.cells[i].values = s.cells[i].values[:0]
	}
}

func (t *table) put(s *scratch) {
	if t.rows+s.rows > rowGroup || t.bytes > groupBytes {
		t.endGroup()
	}
	t.rows += s.rows
	t.bytes += s.bytes
	for i := range t.columns {
		if t.err == nil {
			_, t.err = t.leaves[i].WriteRowValues(s.cells[i].values)
		}
	}
}

// waiting is about how much is held of a row group that has not ended, in rows.
func (t *table) waiting() int { return t.rows + t.bytes>>4 }

func (t *table) endGroup() {
	if t.err == nil {
		t.err = t.out.Flush()
	}
	t.rows, t.bytes = 0, 0
}

// close ends the file.
func (t *table) close() error {
	if t.scratch.owner == t {
		t.scratch.flush()
		t.scratch.owner = nil
	}
	if t.err == nil {
		t.err = t.out.Close()
	}
	if err := t.file.Close(); t.err == nil {
		t.err = err
	}
	return t.err
}

// add adds a value. Where none may be missing, levels mean nothing.
func (c *cells) add(v pq.Value) {
	if c.defined > 0 {
		v = v.Level(0, c.defined, c.leaf)
	}
	c.values = append(c.values, v)
}

// null adds an unknown value.
func (c *cells) null() { c.values = append(c.values, pq.Value{}.Level(0, 0, c.leaf)) }

func (c *cells) long(v int64)     { c.add(pq.Int64Value(v)) }
func (c *cells) int(v int32)      { c.add(pq.Int32Value(v)) }
func (c *cells) double(v float64) { c.add(pq.DoubleValue(v)) }
func (c *cells) bool(v bool)      { c.add(pq.BooleanValue(v)) }

// known adds v, which is unknown if it is unset.
func (c *cells) known(v, unset int64) {
	if v == unset {
		c.null()
	} else {
		c.long(v)
	}
}

// id adds an id, of which 0 is none.
func (c *cells) id(id int32) {
	if id == 0 {
		c.null()
	} else {
		c.int(id)
	}
}

// bytesOf adds a text that is valid, or a key.
func (c *cells) bytesOf(v []byte) {
	*c.bytes += len(v)
	c.add(pq.ByteArrayValue(v))
}

func (c *cells) key(k *key) { c.add(pq.FixedLenByteArrayValue(k[:])) }

// list adds a list that is known.
func (c *cells) list(n int, at func(i int) pq.Value) {
	if n == 0 {
		c.values = append(c.values, pq.Value{}.Level(0, c.defined-1, c.leaf))
	}
	for i := range n {
		c.values = append(c.values, at(i).Level(min(i, 1), c.defined, c.leaf))
	}
}

// same adds a value to n rows.
func (c *cells) same(n int, v pq.Value) {
	v = v.Level(0, c.defined, c.leaf)
	for range n {
		c.values = append(c.values, v)
	}
}

// valid returns s as UTF-8, and whether it was.
func valid(s []byte) ([]byte, bool) {
	if utf8.Valid(s) {
		return s, true
	}
	return []byte(string([]rune(string(s)))), false
}
