// Package messages reads the fields of a Protocol Buffers message that may be larger than memory.
package messages

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"gprof/ingest/internal/damage"
	"gprof/rawformat/protobuf"
)

var (
	errField = fmt.Errorf("%w: not a field of a message", damage.ErrDamaged)
	errEnd   = fmt.Errorf("%w: a field reaches beyond the message that it is in", damage.ErrDamaged)
)

const (
	// MaxField is the usual bound of a field: a sample of a hundred thousand frames takes a tenth of it.
	MaxField = 16 << 20
	// Window is the size of a read.
	Window = 64 << 10
	// maxHeader bounds the number and length of a field.
	maxHeader = 2 * binary.MaxVarintLen64
)

// Way is how a field is read.
type Way uint8

// The ways of reading a field with a length.
const (
	Whole Way = iota // with its bytes
	Inner            // as a message that may be large: the fields that follow are its own, one level deeper, up to its end
	Past             // without its bytes
)

// Reader reads the fields of a message one by one.
type Reader struct {
	// Way tells how a field with a length is read, of which depth and number are known. nil: all whole.
	Way func(depth, number int) Way
	// Max bounds the bytes of a field that is read whole.
	Max uint64

	r     io.Reader // nil: all is in buf
	buf   []byte
	next  int            // in buf
	off   int64          // of buf[0] in the file
	err   error          // that ended reading
	field protobuf.Field // that was read last
	depth int            // of field
	ends  []int64        // in the file, of the messages that were entered, the outermost first
}

// New returns a reader of a message in a stream.
func New(r io.Reader) *Reader { return &Reader{r: r, buf: make([]byte, 0, Window), Max: MaxField} }

// Held returns a reader of a message in memory; end is the error behind it, io.EOF if it is whole.
func Held(message []byte, end error) *Reader { return &Reader{buf: message, err: end, Max: MaxField} }

// Offset is where the next field begins.
func (f *Reader) Offset() int64 { return f.off + int64(f.next) }

// Depth is the number of messages that were entered around the field that was read last.
func (f *Reader) Depth() int { return f.depth }

// Ended reports whether the message of that depth, from 1, which was entered, is read to its end.
func (f *Reader) Ended(depth int) bool { return len(f.ends) < depth || f.ends[depth-1] <= f.Offset() }

// Read reads a field, which is valid until the next call. Unless it is read whole, it has its length
// as its Value, and no Bytes.
// It returns io.EOF at the end, else a [damage.Error].
func (f *Reader) Read() (v *protobuf.Field, err error) {
	begin := f.Offset()
	for len(f.ends) > 0 && f.ends[len(f.ends)-1] <= begin {
		f.ends = f.ends[:len(f.ends)-1]
	}
	f.depth = len(f.ends)
	f.want(maxHeader)
	tag, value, n := protobuf.ParseHeader(f.buf[f.next:])
	if n <= 0 && f.next == len(f.buf) && f.err == io.EOF && f.depth == 0 {
		return nil, io.EOF
	}
	if n <= 0 {
		return nil, f.fail(begin, n)
	}
	v = &f.field
	v.Set(tag, value)
	long := v.Wire == protobuf.Bytes
	if f.depth > 0 {
		if left := f.ends[f.depth-1] - begin - int64(n); left < 0 || long && value > uint64(left) {
			return nil, &damage.Error{Off: begin, Err: errEnd}
		}
	}
	if !long {
		f.next += n
		return v, nil
	}
	if f.Way != nil {
		switch f.Way(f.depth, v.Number) {
		case Inner:
			f.next += n
			f.ends = append(f.ends, f.Offset()+int64(min(value, 1<<62)))
			return v, nil
		case Past:
			f.next += n
			return v, f.pass(begin, int64(min(value, math.MaxInt64)))
		}
	}
	if value > f.Max {
		return nil, &damage.Error{Off: begin, Err: fmt.Errorf("%w: a field of %d bytes, want at most %d", damage.ErrTooBig, value, f.Max)}
	}
	size := n + int(value)
	if f.want(size); len(f.buf)-f.next < size {
		return nil, f.fail(begin, 0)
	}
	v.Bytes = f.buf[f.next+n : f.next+size]
	f.next += size
	return v, nil
}

// pass leaves out n bytes of a field that begins at an offset.
func (f *Reader) pass(begin, n int64) error {
	held := int64(len(f.buf) - f.next)
	if n <= held {
		f.next += int(n)
		return nil
	}
	f.off += int64(len(f.buf))
	f.buf, f.next = f.buf[:0], 0
	if f.r != nil && f.err == nil {
		var skipped int64
		skipped, f.err = io.CopyN(io.Discard, f.r, n-held)
		f.off += skipped
	}
	if f.err != nil || f.r == nil {
		return f.fail(begin, 0)
	}
	return nil
}

// fail is the error of an unreadable field: n is 0 if it is cut short.
func (f *Reader) fail(at int64, n int) error {
	switch {
	case n < 0:
		return &damage.Error{Off: at, Err: errField}
	case f.err != nil && f.err != io.EOF:
		return &damage.Error{Off: f.off + int64(len(f.buf)), Err: f.err}
	}
	return &damage.Error{Off: at, Err: damage.ErrTorn}
}

// want reads until n bytes are there, or no more come. Memory grows with what came, not with what a
// length says.
func (f *Reader) want(n int) {
	if len(f.buf)-f.next >= n || f.err != nil {
		return
	}
	if f.r == nil {
		f.err = io.EOF
		return
	}
	f.off += int64(f.next)
	f.buf = f.buf[:copy(f.buf[:cap(f.buf)], f.buf[f.next:])]
	f.next = 0
	for len(f.buf) < n && f.err == nil {
		if len(f.buf) == cap(f.buf) {
			f.buf = slices.Grow(f.buf, len(f.buf))
		}
		k, err := f.r.Read(f.buf[len(f.buf):cap(f.buf)])
		f.buf, f.err = f.buf[:len(f.buf)+k], err
	}
}
