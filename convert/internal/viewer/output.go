package viewer

import (
	"sync"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
)

// Rows of one list are written in pieces. Only the numbers of stacks and
// strings depend on the order of rows: they are decided when a row comes. The
// rest of the work is to write numbers and texts, and any core can do it.

const (
	// handOver is the number of rows from which a piece is made on another core. Fewer cost as much
	// as handing over, and compress badly.
	handOver = 1024
	// MaxRows and maxText bound a piece, and so the memory of those being made, in rows and bytes
	// of text.
	MaxRows = 16 << 10
	maxText = 1 << 20
)

// Output is JSON text, partly made in pieces on other cores.
type Output struct {
	*jsontext.Writer
	pipe *pipeline.Writer
	row  []byte // scratch
}

// NewOutput returns an Output to pipe.
func NewOutput(pipe *pipeline.Writer) *Output {
	return &Output{Writer: jsontext.NewWriter(pipe), pipe: pipe}
}

// IsPiece reports whether n rows are enough for a piece that another core may make.
func IsPiece(n int) bool { return n >= handOver }

// List writes n elements of a list, which piece appends with commas between them.
func (o *Output) List(n int, kind pipeline.Kind, piece func(dst []byte) []byte) {
	o.list(n, kind, piece, o.pipe.Go)
}

// ListAfter is List for elements that are not known before the last list that was a piece is made.
func (o *Output) ListAfter(n int, kind pipeline.Kind, piece func(dst []byte) []byte) {
	o.list(n, kind, piece, o.pipe.GoAfter)
}

func (o *Output) list(n int, kind pipeline.Kind, piece func(dst []byte) []byte, hand func(pipeline.Kind, func([]byte) []byte)) {
	switch {
	case n == 0:
	case !IsPiece(n):
		o.row = piece(o.row[:0])
		o.RawBytes(o.row)
	default:
		o.Splice()
		hand(kind, piece)
	}
}

// Texts writes strings. It keeps the list.
func (o *Output) Texts(list []string) {
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) && n < MaxRows && size < maxText {
			size += len(list[n])
			n++
		}
		part := list[:n]
		list = list[n:]
		o.List(n, pipeline.Text, func(dst []byte) []byte { return AppendTexts(dst, part) })
	}
}

// AppendTexts appends strings, with commas between them.
func AppendTexts(dst []byte, list []string) []byte {
	for _, text := range list {
		dst = append(jsontext.AppendString(dst, text), ',')
	}
	return dst[:len(dst)-1]
}

// Write writes text as it is, after a Flush.
func (o *Output) Write(p []byte) (int, error) { return o.pipe.Write(p) }

// Settle waits until everything is written.
func (o *Output) Settle() error {
	if err := o.Flush(); err != nil {
		return err
	}
	return o.pipe.Wait()
}

// Close finishes the file.
func (o *Output) Close() error {
	if err := o.Flush(); err != nil {
		return err
	}
	return o.pipe.Close()
}

// Pool reuses values for pieces.
type Pool[T any] struct{ free sync.Pool }

func (p *Pool[T]) Get() *T {
	if v, ok := p.free.Get().(*T); ok {
		return v
	}
	return new(T)
}

func (p *Pool[T]) Put(v *T) { p.free.Put(v) }

// Texts numbers strings from 0 by first use. Reset the zero Texts before use.
type Texts struct {
	number map[string]int32
	list   []string
}

// TextBytes is about what a string takes in Texts, besides its bytes.
const TextBytes = 2 * (16 + 4 + 16)

// List is all strings, by number.
func (x *Texts) List() []string { return x.list }

// Intern returns the number of s.
func (x *Texts) Intern(s string) int32 {
	if n, ok := x.number[s]; ok {
		return n
	}
	return x.add(s)
}

// InternBytes is Intern of string(b); it allocates only for a new string.
func (x *Texts) InternBytes(b []byte) int32 {
	if n, ok := x.number[string(b)]; ok {
		return n
	}
	return x.add(string(b))
}

func (x *Texts) add(s string) int32 {
	n := int32(len(x.list))
	x.number[s] = n
	x.list = append(x.list, s)
	return n
}

// Reset drops all strings and frees their memory.
func (x *Texts) Reset() {
	x.number = make(map[string]int32)
	x.list = nil
}
