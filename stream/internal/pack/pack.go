// Package pack encodes columns of integers. A column is
//
//	first    S (zig-zag ULEB128)
//	width    1 byte, 0 to 8
//	values   width bytes for each row, little endian
//
// Each value is the zig-zag form of a difference: to the row before in delta
// encoding, to the first row otherwise. The largest value determines the width, so
// that equal rows take no space. All rows having one width makes both directions
// several times faster than numbers of varying length, at about their size.
package pack

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Slack is the number of bytes that must follow encoded data, because values are loaded
// and stored 8 bytes at a time.
const Slack = 8

// MaxRows is the most rows that are encoded at a time.
const MaxRows = 512

// Integer is what can be packed.
type Integer interface {
	~int64 | ~uint64 | ~int32 | ~uint8
}

// Encoder is memory for encoding.
type Encoder struct {
	scratch [MaxRows]uint64
}

// Scratch returns memory for n values, valid until the next call. It may be passed to
// Append.
func (e *Encoder) Scratch(n int) []uint64 { return e.scratch[:n] }

// Append encodes a column of 1 to MaxRows rows.
func Append[T Integer](dst []byte, e *Encoder, column []T) []byte {
	values := e.scratch[:len(column)]
	first := uint64(column[0])
	var all uint64
	for i, v := range column {
		z := zigzag(uint64(v) - first)
		values[i] = z
		all |= z
	}
	return appendValues(binary.AppendVarint(dst, int64(first)), values, all)
}

// AppendDelta encodes a column of 1 to MaxRows rows by the differences between them.
func AppendDelta[T Integer](dst []byte, e *Encoder, column []T) []byte {
	values := e.scratch[:len(column)]
	last := uint64(column[0])
	var all uint64
	for i, v := range column {
		z := zigzag(uint64(v) - last)
		last = uint64(v)
		values[i] = z
		all |= z
	}
	return appendValues(binary.AppendVarint(dst, int64(column[0])), values, all)
}

// appendValues adds width and values; all is the values or-ed.
func appendValues(dst []byte, values []uint64, all uint64) []byte {
	width := (bits.Len64(all) + 7) / 8
	dst = append(dst, byte(width))
	if width == 0 {
		return dst
	}
	end := len(dst) + width*len(values)
	dst = slices.Grow(dst, width*len(values)+Slack)
	out := dst[len(dst) : end+Slack]
	for _, v := range values {
		binary.LittleEndian.PutUint64(out, v)
		out = out[width:]
	}
	return dst[:end]
}

// Reader decodes columns, one after the other. After invalid bytes it is Bad and returns
// zeros.
type Reader struct {
	data []byte // with slack
	bad  bool
}

// NewReader returns a Reader of data, which is followed by Slack bytes.
func NewReader(data []byte) Reader { return Reader{data: data[:len(data)+Slack]} }

// Bad reports whether anything was invalid.
func (r *Reader) Bad() bool { return r.bad }

// Left is how many bytes are left.
func (r *Reader) Left() int { return len(r.data) - Slack }

// Fail makes r Bad, so that nothing more is read.
func (r *Reader) Fail() { r.bad, r.data = true, r.data[r.Left():] }

// AtMost reads a ULEB128 number, which is invalid above limit.
func (r *Reader) AtMost(limit uint64) uint64 {
	v, n := binary.Uvarint(r.data[:r.Left()])
	if n <= 0 || v > limit {
		r.Fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

// Bytes returns the next n bytes, none if there are fewer.
func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(r.Left()) {
		r.Fail()
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

// column reads the head of a column of n rows, and returns its values with slack after
// them. If width is 0 there are none.
func (r *Reader) column(n int) (first uint64, width int, values []byte) {
	v, size := binary.Varint(r.data[:r.Left()])
	if size <= 0 || size == r.Left() || r.data[size] > 8 {
		r.Fail()
		return 0, 0, nil
	}
	width = int(r.data[size])
	r.data = r.data[size+1:]
	if n*width > r.Left() {
		r.Fail()
		return 0, 0, nil
	}
	values = r.data
	r.data = r.data[n*width:]
	return uint64(v), width, values
}

// Read adds n rows that Append encoded.
func Read[T Integer](column []T, r *Reader, n int) []T {
	column, out := Extend(column, n)
	first, width, data := r.column(n)
	if width == 0 {
		for i := range out {
			out[i] = T(first)
		}
		return column
	}
	mask := ^uint64(0) >> (64 - 8*width)
	for i := range out {
		out[i] = T(first + unzigzag(binary.LittleEndian.Uint64(data)&mask))
		data = data[width:]
	}
	return column
}

// ReadDelta adds n rows that AppendDelta encoded.
func ReadDelta[T Integer](column []T, r *Reader, n int) []T {
	column, out := Extend(column, n)
	v, width, data := r.column(n)
	if width == 0 {
		for i := range out {
			out[i] = T(v)
		}
		return column
	}
	mask := ^uint64(0) >> (64 - 8*width)
	for i := range out {
		v += unzigzag(binary.LittleEndian.Uint64(data) & mask)
		data = data[width:]
		out[i] = T(v)
	}
	return column
}

// Extend adds n rows, which are not cleared, and returns these, too.
func Extend[T any](column []T, n int) (all, added []T) {
	column = slices.Grow(column, n)[:len(column)+n]
	return column, column[len(column)-n:]
}

func zigzag(v uint64) uint64   { return v<<1 ^ uint64(int64(v)>>63) }
func unzigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }
