package tables

import (
	"io"
	"slices"
	"unicode/utf8"

	"gprof/stream"
)

// Writer writes a table in some format.
type Writer interface {
	// Write adds rows, the values of each column, which are valid until it calls done, once, on any goroutine.
	Write(columns []Values, done func()) error
	// Waiting is the approximate memory of buffered rows, which Cut flushes.
	Waiting() int
	Cut() error
	// Close ends the table, not the file.
	Close() error
}

// pending is how many rows of a table, or bytes of texts and lists, are collected before its writer
// gets them.
const (
	pending     = 8192
	pendingText = 4 << 20
)

// table is a file being written.
type table struct {
	name    string // among the files
	used    int    // last use, in the sink's uses
	columns []Column
	create  func() error   // makes file and out
	file    io.WriteCloser // nil before
	out     Writer
	rows    *rows
	err     error
}

// rows are rows that their table's writer does not have yet. A sink's tables take turns with them.
type rows struct {
	owner   *table
	columns []Values
	next    int // column
	n       int
	bytes   int           // of texts and lists
	free    chan []Values // for the next rows, while writers have others
}

// newRows returns rows of which so many are collected or written at a time.
func newRows(sets int) rows {
	r := rows{free: make(chan []Values, sets)}
	for range sets - 1 {
		r.free <- nil
	}
	return r
}

// begin begins a row, or rows whose columns come at once.
func (t *table) begin() *rows {
	if t.rows.owner != t {
		t.rows.flush()
		t.rows.take(t)
	}
	t.rows.next = 0
	return t.rows
}

// take prepares r for rows of t.
func (r *rows) take(t *table) {
	r.owner = t
	r.empty()
}

func (r *rows) empty() {
	for len(r.columns) < len(r.owner.columns) {
		r.columns = append(r.columns, Values{bytes: &r.bytes})
	}
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
		full := r.columns
		t.err = t.out.Write(full[:len(t.columns)], func() { r.free <- full })
		r.columns = <-r.free
	}
	r.empty()
}

// waiting is how much its writer buffers.
func (t *table) waiting() int {
	if t.out == nil {
		return 0
	}
	return t.out.Waiting()
}

// close ends the file, if any.
func (t *table) close() error {
	if t.rows.owner == t {
		t.rows.leave()
	}
	return t.finish()
}

// leave gives the rows to the writer of their table, and takes no more of it.
func (r *rows) leave() {
	r.flush()
	r.owner = nil
}

// finish ends the file, if any, of a table whose writer has all rows.
func (t *table) finish() error {
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

// Values are the values of a column in some rows, in the field of the column's kind; unknown ones
// have a slot, too.
type Values struct {
	Rows int
	// One says that all rows have the one value that is there.
	One bool
	// Known says which values are known; empty if all are.
	Known []bool

	Longs   []int64
	Shorts  []int32 // also those in IDs
	Doubles []float64
	Flags   []bool
	// Bytes are all texts, or values of one Size, concatenated. Ends are their ends. Unknown
	// values of one Size are zeros.
	Bytes []byte
	Ends  []int32
	// Lists are the ends of the rows' lists, among Shorts or texts.
	Lists []int32

	kind     Kind
	optional bool // values may be unknown
	bytes    *int // of texts and lists, in all columns
}

// reset empties v for a column.
func (v *Values) reset(c *Column) {
	*v = Values{
		Known: v.Known[:0], Longs: v.Longs[:0], Shorts: v.Shorts[:0], Doubles: v.Doubles[:0], Flags: v.Flags[:0],
		Bytes: v.Bytes[:0], Ends: v.Ends[:0], Lists: v.Lists[:0], kind: c.Kind, optional: c.Null, bytes: v.bytes,
	}
}

// TextAt is text i; it points into v.
func (v *Values) TextAt(i int) []byte {
	from := int32(0)
	if i > 0 {
		from = v.Ends[i-1]
	}
	return v.Bytes[from:v.Ends[i]:v.Ends[i]]
}

// ListAt is the range of row i's list.
func (v *Values) ListAt(i int) (from, to int) {
	if i > 0 {
		from = int(v.Lists[i-1])
	}
	return from, int(v.Lists[i])
}

// KnownAt reports whether row i's value is known.
func (v *Values) KnownAt(i int) bool { return len(v.Known) == 0 || v.Known[i] }

// row counts a row.
func (v *Values) row(known bool) {
	v.Rows++
	if v.optional {
		v.Known = append(v.Known, known)
	}
}

func (v *Values) long(n int64)     { v.row(true); v.Longs = append(v.Longs, n) }
func (v *Values) short(n int32)    { v.row(true); v.Shorts = append(v.Shorts, n) }
func (v *Values) double(n float64) { v.row(true); v.Doubles = append(v.Doubles, n) }
func (v *Values) flag(b bool)      { v.row(true); v.Flags = append(v.Flags, b) }
func (v *Values) text(s []byte)    { v.row(true); v.append(s) }
func (v *Values) string(s string)  { v.row(true); v.append([]byte(s)) }

// append adds a text, which need not be a row's.
func (v *Values) append(s []byte) {
	*v.bytes += len(s)
	v.Bytes = append(v.Bytes, s...)
	v.Ends = append(v.Ends, int32(len(v.Bytes)))
}

// null adds an unknown value.
func (v *Values) null() {
	v.row(false)
	switch v.kind {
	case Long:
		v.Longs = append(v.Longs, 0)
	case Short:
		v.Shorts = append(v.Shorts, 0)
	case Double:
		v.Doubles = append(v.Doubles, 0)
	case Flag:
		v.Flags = append(v.Flags, false)
	case IDs:
		v.Lists = append(v.Lists, int32(len(v.Shorts)))
	case Texts:
		v.Lists = append(v.Lists, int32(len(v.Ends)))
	default:
		v.append(zeros[:v.kind.Size()])
	}
}

// zeros stand for unknown bytes.
var zeros [KeySize]byte

// nulls adds n unknown values.
func (v *Values) nulls(n int) {
	for range n {
		v.null()
	}
}

// known adds n, unknown if it is unset.
func (v *Values) known(n, unset int64) {
	if n == unset {
		v.null()
	} else {
		v.long(n)
	}
}

// someKnown adds numbers, of which those that are unset are unknown.
func (v *Values) someKnown(numbers []int64, unset int64) {
	v.Rows += len(numbers)
	longs, known := len(v.Longs), v.grow(len(numbers))
	v.Longs = append(v.Longs, numbers...)
	for i, n := range numbers {
		if known[i] = n != unset; n == unset {
			v.Longs[longs+i] = 0
		}
	}
}

// grow adds n cells to Known, and returns them.
func (v *Values) grow(n int) []bool {
	old := len(v.Known)
	v.Known = slices.Grow(v.Known, n)[:old+n]
	return v.Known[old:]
}

// id adds an id; 0 is unknown.
func (v *Values) id(id int32) {
	if id == 0 {
		v.null()
	} else {
		v.short(id)
	}
}

// all adds known numbers.
func (v *Values) all(numbers []int64) {
	v.Rows += len(numbers)
	v.Longs = append(v.Longs, numbers...)
}

// ids adds a list.
func (v *Values) ids(members []int32) {
	*v.bytes += 4 * len(members)
	v.Shorts = append(v.Shorts, members...)
	v.list()
}

// list adds the list of the members added since the last one.
func (v *Values) list() {
	v.row(true)
	if v.kind == IDs {
		v.Lists = append(v.Lists, int32(len(v.Shorts)))
	} else {
		v.Lists = append(v.Lists, int32(len(v.Ends)))
	}
}

// one says that n rows have the one value that was added.
func (v *Values) one(n int) { v.Rows, v.One = n, true }

// valid returns s as UTF-8, and whether it was.
func valid(s []byte) ([]byte, bool) {
	if utf8.Valid(s) {
		return s, true
	}
	return []byte(string([]rune(string(s)))), false
}

// Kind is the kind of a column's values.
type Kind uint8

const (
	Long   Kind = iota // integer of 64 bits
	Short              // integer of 32 bits
	Double             // floating point number of 64 bits
	Flag               // true or false
	Word               // text that repeats
	Text               // text, in UTF-8
	Hash               // KeySize bytes
	SpanID             // stream.SpanIDSize bytes
	IDs                // list of Shorts
	Texts              // list of Texts
)

// KeySize is the length of a Hash.
const KeySize = 16

// Size is the number of bytes of each value of the kind, 0 if they differ or are no bytes.
func (k Kind) Size() int {
	switch k {
	case Hash:
		return KeySize
	case SpanID:
		return stream.SpanIDSize
	}
	return 0
}

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	Null bool // values may be unknown
	Near bool // values are mostly near the one before
	// Dense says that the differences of values hardly repeat: compressing them takes time and no bytes.
	Dense bool
	// Texts are all values of a Word, if known before the first row.
	Texts []string
}

// Definition is a table's columns, and those its rows are sorted by.
type Definition struct {
	Name    string
	Columns []Column
	Sorted  []string
}
