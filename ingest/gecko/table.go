package gecko

import (
	"gprof/ingest/internal/jsonfile"
)

// table reads some columns of a table row by row. One of a Gecko profile has a
// schema and rows; one of a processed profile has columns, each a list.
type table struct {
	cells [][]byte // of the row, as they stand in the file; nil where there is none
	rows  *jsonfile.Scanner
	place []int // of a column in a row, -1 for none

	columns []*jsonfile.Scanner // nil for none
	ragged  int64               // cells that are missing from columns that are there
}

// table opens a table for those columns that are asked for by name, in that
// order.
func (f *file) table(v *jsonfile.Value, names ...string) *table {
	t := &table{cells: make([][]byte, len(names))}
	if data := v.Get("data"); data.Is(jsonfile.Array) && v.Get("schema").Is(jsonfile.Object) {
		t.rows = f.at(data)
		t.rows.Array()
		for _, name := range names {
			t.place = append(t.place, placeOf(v.Get("schema", name)))
		}
		return t
	}
	for _, name := range names {
		var column *jsonfile.Scanner
		if c := v.Get(name); c.Is(jsonfile.Array) {
			column = f.at(c)
			column.Array()
		}
		t.columns = append(t.columns, column)
	}
	return t
}

// placeOf is the place that a schema gives a column, -1 for none.
func placeOf(v *jsonfile.Value) int {
	if v == nil {
		return -1
	}
	if n, ok := jsonfile.Int(v.Raw); ok && n >= 0 && n < 1000 {
		return int(n)
	}
	return -1
}

// has reports whether the table has a column.
func (t *table) has(i int) bool {
	if t.rows != nil {
		return t.place[i] >= 0
	}
	return t.columns[i] != nil
}

// next goes to the next row and reports whether there is one. Its cells are
// valid until the row after it.
func (t *table) next() bool {
	if t.rows == nil {
		return t.nextOfColumns()
	}
	clear(t.cells)
	if !t.rows.More() {
		return false
	}
	row := t.rows.Raw()
	if t.rows.Err() != nil || row[0] != '[' {
		return t.rows.Err() == nil
	}
	s := jsonfile.Bytes(row, 0)
	s.Array()
	for at := 0; s.More(); at++ {
		cell := s.Raw()
		for i, place := range t.place {
			if place == at {
				t.cells[i] = cell
			}
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
		if c.Err() == nil && c.More() {
			t.cells[i], any = c.Raw(), true
		} else {
			missing++
			t.columns[i] = ended(c)
		}
	}
	if any {
		t.ragged += missing
	}
	return any
}

// ended is a column that has no more cells.
func ended(c *jsonfile.Scanner) *jsonfile.Scanner {
	if c.Err() != nil {
		return c
	}
	s := jsonfile.Bytes([]byte("[]"), c.Off())
	s.Array()
	return &s
}

// null reports whether a cell says nothing.
func (t *table) null(i int) bool { return isNull(t.cells[i]) }

// index is a cell that is a number below n; else it is 0.
func (t *table) index(i, n int) (int, bool) {
	at, ok := jsonfile.Int(t.cells[i])
	if !ok || at < 0 || at >= int64(n) {
		return 0, false
	}
	return int(at), true
}

// integer is a cell that is a number without a fraction.
func (t *table) integer(i int) (int64, bool) { return jsonfile.Int(t.cells[i]) }

// nanos is a cell that is a number of milliseconds.
func (t *table) nanos(i int) (int64, bool) { return nanos(t.cells[i]) }

// err is what ended the table too early.
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
