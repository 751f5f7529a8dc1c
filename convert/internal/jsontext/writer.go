// Package jsontext writes JSON text, a token at a time.
//
// The Append functions format single values. A [Writer] puts them together: it
// knows where commas go and keeps the first error. Neither checks that the
// result is well formed; the order of calls decides that.
package jsontext

import (
	"io"
	"strconv"
)

// flushSize is how many bytes a Writer collects: so many that the cost of a write does
// not show, and few enough to stay in the cache.
const flushSize = 64 << 10

// Writer writes JSON text to an [io.Writer]. After an error it writes nothing.
type Writer struct {
	w     io.Writer
	buf   []byte
	comma bool // before the next element or key
	err   error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, buf: make([]byte, 0, flushSize+flushSize/4)}
}

// BeginObject and EndObject write a brace, BeginArray and EndArray a bracket.
func (w *Writer) BeginObject() { w.open('{') }
func (w *Writer) EndObject()   { w.shut('}') }
func (w *Writer) BeginArray()  { w.open('[') }
func (w *Writer) EndArray()    { w.shut(']') }

// Key writes the key of an object's member; its value must follow.
func (w *Writer) Key(key string) {
	w.separate()
	w.buf = append(AppendString(w.buf, key), ':')
	w.comma = false
}

// Member, Number, Decimal, Flag and Value write a whole member of an object, as
// String, Int, Fixed, Bool and Raw write its value. Object and Array begin one.
func (w *Writer) Member(key, value string)       { w.Key(key); w.String(value) }
func (w *Writer) Number(key string, value int64) { w.Key(key); w.Int(value) }
func (w *Writer) Flag(key string, value bool)    { w.Key(key); w.Bool(value) }
func (w *Writer) Value(key, text string)         { w.Key(key); w.Raw(text) }
func (w *Writer) Object(key string)              { w.Key(key); w.BeginObject() }
func (w *Writer) Array(key string)               { w.Key(key); w.BeginArray() }
func (w *Writer) Decimal(key string, n int64, decimals int) {
	w.Key(key)
	w.Fixed(n, decimals)
}

// String writes a string, made valid UTF-8.
func (w *Writer) String(s string) {
	w.separate()
	w.buf = AppendString(w.buf, s)
	w.flushFull()
}

// Int writes an integer.
func (w *Writer) Int(n int64) {
	w.separate()
	w.buf = AppendInt(w.buf, n)
	w.flushFull()
}

// Fixed writes n·10^-decimals, see [AppendFixed].
func (w *Writer) Fixed(n int64, decimals int) {
	w.separate()
	w.buf = AppendFixed(w.buf, n, decimals)
	w.flushFull()
}

// Bool writes true or false.
func (w *Writer) Bool(b bool) {
	w.separate()
	w.buf = strconv.AppendBool(w.buf, b)
	w.flushFull()
}

// Null writes null.
func (w *Writer) Null() { w.Raw("null") }

// Raw writes text that is one JSON value, or more with commas between them.
func (w *Writer) Raw(text string) {
	w.separate()
	w.buf = append(w.buf, text...)
	w.flushFull()
}

// RawBytes is Raw for bytes, which it does not keep.
func (w *Writer) RawBytes(text []byte) {
	w.separate()
	w.buf = append(w.buf, text...)
	w.flushFull()
}

// Splice prepares for text like that of Raw that somebody else writes directly to the
// same [io.Writer] at once.
func (w *Writer) Splice() {
	w.separate()
	w.Flush()
}

// Flush writes what is buffered and returns the first error of all writes.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.buf) > 0 {
		_, w.err = w.w.Write(w.buf)
	}
	w.buf = w.buf[:0]
	return w.err
}

// Err returns the first error so far.
func (w *Writer) Err() error { return w.err }

func (w *Writer) open(b byte) {
	w.separate()
	w.buf = append(w.buf, b)
	w.comma = false
}

func (w *Writer) shut(b byte) {
	w.buf = append(w.buf, b)
	w.comma = true
	w.flushFull()
}

func (w *Writer) separate() {
	if w.comma {
		w.buf = append(w.buf, ',')
	}
	w.comma = true
}

func (w *Writer) flushFull() {
	if len(w.buf) >= flushSize {
		w.Flush()
	}
}
