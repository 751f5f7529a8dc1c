package gecko

import (
	"slices"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// table reads some columns of a table row by row. Gecko tables have a schema and rows, processed
// ones have columns.
type table struct {
	f     *file
	of    string   // path
	names []string // of the columns
	offs  []int64  // offsets of the cells, or of their row

	cells [][]byte // JSON of the row's cells, nil where missing
	rows  *jsonfile.Scanner
	row   [][]byte // all cells of the row
	place []int    // position of each column in a row, -1 for none

	columns []*jsonfile.Scanner // nil for none
	ragged  int64               // cells missing in columns that exist
	length  int64               // as the table says, -1 unknown
	read    int64               // rows read
}

// table opens a member that is a table, for the named columns in that order.
func (p part) table(key string, names ...string) *table { return p.object(key).columns(names...) }

// columns is table for p itself.
func (p part) columns(names ...string) *table {
	t := &table{f: p.f, of: p.of, names: names, cells: make([][]byte, len(names)), offs: make([]int64, len(names))}
	if p.v.Get("schema") != nil {
		t.openRows(p)
		return t
	}
	if p.v.Get("data") != nil && p.v.Get("length") == nil && !slices.Contains(names, "data") {
		p.required("schema")
	}
	for _, name := range names {
		var column *jsonfile.Scanner
		if c := p.at(name); c.is(jsonfile.Array) {
			column = p.f.at(c.v)
			column.Array()
		}
		t.columns = append(t.columns, column)
	}
	t.length = -1
	if n, ok := p.integer("length"); ok {
		t.length = n
	}
	return t
}

// listed is a table of the rows in the list p, of columns in that order.
func (p part) listed(names ...string) *table {
	t := &table{f: p.f, of: p.of, names: names, cells: make([][]byte, len(names)), offs: make([]int64, len(names)), rows: p.f.at(p.v)}
	t.rows.Array()
	for i := range names {
		t.place = append(t.place, i)
	}
	return t
}

// openRows opens a table of rows.
func (t *table) openRows(p part) {
	schema := p.object("schema")
	data := jsonfile.Bytes([]byte("[]"), p.v.Offset())
	if d := p.at("data"); d.is(jsonfile.Array) {
		data = *p.f.at(d.v)
	} else if d.v == nil {
		p.required("data")
	}
	t.rows = &data
	t.rows.Array()
	for _, name := range t.names {
		place := -1
		if n, ok := schema.integer(name); ok {
			if place = int(n); n < 0 || n >= maxColumns {
				schema.at(name).note(stream.ReasonImpossible)
				place = -1
			}
		}
		t.place = append(t.place, place)
	}
}

const maxColumns = 1000

// has reports whether the table has a column.
func (t *table) has(i int) bool {
	if t.rows != nil {
		return t.place[i] >= 0
	}
	return t.columns[i] != nil
}

// next goes to the next row, whose cells are valid until the one after.
func (t *table) next() bool {
	if t.rows == nil {
		return t.nextOfColumns()
	}
	clear(t.cells)
	row, whole, off, ok := t.rows.NextList(t.row[:0])
	if t.row = row; !ok || t.rows.Err() != nil {
		return false
	}
	if !whole {
		t.f.notes.add(stream.ReasonMalformed, t.of, off)
	}
	for i, place := range t.place {
		if t.offs[i] = off; place >= 0 && place < len(row) {
			t.cells[i] = row[place]
		}
	}
	return true
}

func (t *table) nextOfColumns() bool {
	any, missing := false, int64(0)
	for i, c := range t.columns {
		t.cells[i] = nil
		if c == nil {
			continue
		}
		if raw, off, ok := c.Next(); ok {
			t.cells[i], t.offs[i], any = raw, off, true
		} else {
			missing++
			t.columns[i] = ended(c)
		}
	}
	if any {
		t.ragged += missing
		t.read++
	}
	return any
}

// ended is a column without more cells.
func ended(c *jsonfile.Scanner) *jsonfile.Scanner {
	if c.Err() != nil {
		return c
	}
	s := jsonfile.Bytes([]byte("[]"), c.Off())
	s.Array()
	return &s
}

// null reports whether a cell is missing or null.
func (t *table) null(i int) bool { return isNull(t.cells[i]) }

// bad notes a cell.
func (t *table) bad(reason stream.Reason, i int) {
	t.f.notes.add(reason, join(t.of, t.names[i]), t.offs[i])
}

// index is a cell that is a number below n, or null; anything else is noted.
func (t *table) index(i, n int) (int, bool) {
	at, ok := t.integer(i)
	if ok && (at < 0 || at >= int64(n)) {
		t.bad(stream.ReasonImpossible, i)
		return 0, false
	}
	return int(at), ok
}

// optional is index where -1 stands for none, too.
func (t *table) optional(i, n int) (int, bool) {
	if string(t.cells[i]) == "-1" {
		return 0, false
	}
	return t.index(i, n)
}

// required is index where null is noted, too.
func (t *table) required(i, n int) (int, bool) {
	if t.null(i) {
		t.bad(stream.ReasonUndefined, i)
		return 0, false
	}
	return t.index(i, n)
}

// text is the string whose number is in a cell.
func (t *table) text(i int, x *texts) ([]byte, bool) {
	at, ok := t.index(i, x.len())
	if !ok {
		return nil, false
	}
	return x.at(at), true
}

// requiredText is text where null is noted, too.
func (t *table) requiredText(i int, x *texts) []byte {
	if t.null(i) {
		t.bad(stream.ReasonUndefined, i)
		return nil
	}
	text, _ := t.text(i, x)
	return text
}

// integer is a cell that is an integer, or null.
func (t *table) integer(i int) (int64, bool) {
	n, ok := jsonfile.Int(t.cells[i])
	if !ok && !t.null(i) {
		t.bad(stream.ReasonMalformed, i)
	}
	return n, ok
}

// line is a cell that is a line or column, or null.
func (t *table) line(i int) (int32, bool) {
	n, ok := t.integer(i)
	line, fits := lineOf(n)
	if ok && !fits {
		t.bad(stream.ReasonImpossible, i)
	}
	return line, ok
}

// truth is a cell that is a Boolean, false if null.
func (t *table) truth(i int) bool {
	text := string(t.cells[i])
	if text != "true" && text != "false" && !t.null(i) {
		t.bad(stream.ReasonMalformed, i)
	}
	return text == "true"
}

// fixed is a cell as a multiple of 10^-digits, or null.
func (t *table) fixed(i, digits int) (int64, bool) {
	if t.null(i) {
		return 0, false
	}
	n, ok := jsonfile.Fixed(t.cells[i], digits)
	if !ok {
		t.bad(stream.ReasonMalformed, i)
	}
	return n, ok
}

// nanos is a cell in milliseconds, or null.
func (t *table) nanos(i int) (int64, bool) {
	if t.null(i) {
		return 0, false
	}
	ns, wrong := t.f.nanos(t.cells[i])
	if wrong != 0 {
		t.bad(wrong, i)
	}
	return ns, wrong == 0
}

// err is why the table ended early.
func (t *table) err() error {
	if t.rows != nil {
		return t.rows.Err()
	}
	for _, c := range t.columns {
		if c != nil && c.Err() != nil {
			return c.Err()
		}
	}
	return nil
}

// texts is a list of strings, by number.
type texts struct {
	data []byte
	ends []int
	odd  []int64 // offsets of the first values that are no strings
}

const maxOdd = 1000

func (x *texts) len() int { return len(x.ends) }

// at is a string; it must not be changed.
func (x *texts) at(i int) []byte {
	begin := 0
	if i > 0 {
		begin = x.ends[i-1]
	}
	return x.data[begin:x.ends[i]]
}

// cell is the string whose number raw is.
func (x *texts) cell(raw []byte) ([]byte, bool) {
	i, ok := jsonfile.Int(raw)
	if !ok || i < 0 || i >= int64(x.len()) {
		return nil, false
	}
	return x.at(int(i)), true
}

// bytes is the memory of x.
func (x *texts) bytes() int64 { return int64(cap(x.data)) + 8*int64(cap(x.ends)) }

// texts reads a list of strings; other values are empty strings. It stops when full says so.
func (f *file) texts(v *jsonfile.Value, full func(bytes int64) bool) (*texts, error) {
	x := new(texts)
	if !v.Is(jsonfile.Array) {
		return x, nil
	}
	s := f.at(v)
	for s.Array(); ; {
		raw, off, ok := s.Next()
		if !ok {
			break
		}
		if len(raw) > 0 && raw[0] != '"' && len(x.odd) < maxOdd {
			x.odd = append(x.odd, off)
		}
		x.data = jsonfile.AppendText(x.data, raw)
		x.ends = append(x.ends, len(x.data))
		if x.len()%1024 == 0 && full(x.bytes()) {
			break
		}
	}
	return x, s.Err()
}
