package tables

import "io"

// Writer writes one table in some format.
type Writer interface {
	// Write adds rows: the values of each column. Only during the call are they
	// the writer's to read.
	Write(columns []Values) error
	// Waiting is about how much memory is held of rows that are not yet in the
	// file, in bytes. Cut puts them there.
	Waiting() int
	Cut() error
	// Close ends the table, not the file.
	Close() error
}

// pending is how many rows of a table are collected, at least, before its writer
// gets them, or how many bytes of texts and lists.
const (
	pending     = 8192
	pendingText = 4 << 20
)

// table is one file that is being written.
type table struct {
	name    string // among the files
	used    int    // when, by the sink's uses
	columns []Column
	create  func() error   // makes file and out
	file    io.WriteCloser // nil before
	out     Writer
	rows    *rows
	err     error
}

// rows are rows that their table's writer does not have yet. All tables of a
// sink take turns with them.
type rows struct {
	owner   *table
	columns []Values
	next    int // column
	n       int
	bytes   int // of texts and lists
}

// begin begins a row, or rows of which all columns come at once.
func (t *table) begin() *rows {
	if t.rows.owner != t {
		t.rows.flush()
		t.rows.take(t)
	}
	t.rows.next = 0
	return t.rows
}

// take makes r ready for rows of t.
func (r *rows) take(t *table) {
	r.owner = t
	for len(r.columns) < len(t.columns) {
		r.columns = append(r.columns, Values{bytes: &r.bytes})
	}
	r.empty()
}

func (r *rows) empty() {
	r.n, r.bytes = 0, 0
	for i := range r.owner.columns {
		r.columns[i].reset(&r.owner.columns[i])
	}
}

// column returns the next column of the row.
func (r *rows) column() *Values {
	r.next++
	return &r.columns[r.next-1]
}

// end ends n rows.
func (r *rows) end(n int) {
	r.n += n
	if r.n >= pending || r.bytes >= pendingText {
		r.flush()
	}
}

// flush gives the rows to the writer of their table.
func (r *rows) flush() {
	t := r.owner
	if t == nil || r.n == 0 {
		return
	}
	if t.err == nil && t.out == nil {
		t.err = t.create()
	}
	if t.err == nil {
		t.err = t.out.Write(r.columns[:len(t.columns)])
	}
	r.empty()
}

// waiting is what its writer holds.
func (t *table) waiting() int {
	if t.out == nil {
		return 0
	}
	return t.out.Waiting()
}

// close ends the file, if there is one.
func (t *table) close() error {
	if t.rows.owner == t {
		t.rows.flush()
		t.rows.owner = nil
	}
	if t.file == nil {
		return t.err
	}
	if t.err == nil {
		t.err = t.out.Close()
	}
	if err := t.file.Close(); t.err == nil {
		t.err = err
	}
	return t.err
}
