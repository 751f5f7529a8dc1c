// Package pack encodes columns of integers. A column is
//
//	base     S (zig-zag ULEB128), at most the least row
//	width    1 byte, 0 to 8
//	values   width bytes for each row, little endian: what it is above the base
//
// The largest value determines the width, so that equal rows take no space. All rows
// having one width makes both directions several times faster than numbers of varying
// length, at about their size. In delta encoding such a column of differences to the row
// before follows a number, from which the first one leads to the first row.
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

// Gather returns the values of up to MaxRows rows of a column, by their numbers, in the memory of Scratch. They may be passed to
// AppendDelta, too.
func Gather[T Integer](e *Encoder, column []T, rows []int32) []uint64 {
	values := e.scratch[:len(rows)]
	for i, row := range rows {
		values[i] = uint64(column[row])
	}
	return values
}

// Append encodes a column of 1 to MaxRows rows.
func Append[T Integer](dst []byte, column []T) []byte {
	base, width := span(column)
	return appendSpan(dst, column, base, width)
}

// appendSpan encodes a column of that base and width.
func appendSpan[T Integer](dst []byte, column []T, base uint64, width int) []byte {
	dst = append(binary.AppendVarint(dst, int64(base)), byte(width))
	if width == 0 {
		return dst
	}
	end := len(dst) + width*len(column)
	dst = slices.Grow(dst, width*len(column)+Slack)
	put(dst[len(dst):end+Slack], column, base, width)
	return dst[:end]
}

// span is a base that all rows are above of, or at, and the width of what they are above
// it. That is not always the least row: or-ing how far rows are from the first takes half
// the time of finding it.
func span[T Integer](column []T) (base uint64, width int) {
	base = uint64(column[0])
	var apart, signs int64
	for _, v := range column {
		d := int64(uint64(v) - base)
		apart |= d ^ d>>63
		signs |= d
	}
	return spanOf(base, uint64(apart), signs)
}

// spanOf is that of rows that are, or-ed, so far apart from one of them, as numbers without and with their signs.
func spanOf(one, apart uint64, signs int64) (base uint64, width int) {
	size := bits.Len64(apart)
	if signs < 0 {
		one -= 1 << size
		size++
	}
	return one, (size + 7) / 8
}

// put stores values of a width, which may spill over into the slack. The widths that are
// common have loops of their own, in which they are constant.
func put[T Integer](out []byte, column []T, base uint64, width int) {
	switch width {
	case 1:
		for i, v := range column {
			out[i] = byte(uint64(v) - base)
		}
	case 2:
		for _, v := range column {
			binary.LittleEndian.PutUint16(out, uint16(uint64(v)-base))
			out = out[2:]
		}
	case 3:
		for _, v := range column {
			binary.LittleEndian.PutUint32(out, uint32(uint64(v)-base))
			out = out[3:]
		}
	case 4:
		for _, v := range column {
			binary.LittleEndian.PutUint32(out, uint32(uint64(v)-base))
			out = out[4:]
		}
	default:
		for _, v := range column {
			binary.LittleEndian.PutUint64(out, uint64(v)-base)
			out = out[width:]
		}
	}
}

// AppendDelta encodes a column of 1 to MaxRows rows by the differences between them.
func AppendDelta[T Integer](dst []byte, e *Encoder, column []T) []byte {
	base := uint64(0)
	if len(column) > 1 {
		base = uint64(column[1]) - uint64(column[0])
	}
	deltas, last := e.scratch[:len(column)], uint64(column[0])
	deltas[0] = base // no other difference would do, and not widen the column
	dst = binary.AppendVarint(dst, int64(last-base))
	var apart, signs int64
	for i, v := range column[1:] {
		delta := uint64(v) - last
		deltas[i+1], last = delta, uint64(v)
		d := int64(delta - base)
		apart |= d ^ d>>63
		signs |= d
	}
	base, width := spanOf(base, uint64(apart), signs)
	return appendSpan(dst, deltas, base, width)
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

// signed reads a zig-zag ULEB128 number.
func (r *Reader) signed() uint64 {
	v, n := binary.Varint(r.data[:r.Left()])
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.data = r.data[n:]
	return uint64(v)
}

// Values are a column whose rows are decoded in any order. They are valid as long as its data.
type Values struct {
	base  uint64
	width int
	data  []byte // with slack
}

// Values reads a column of n rows, of which nothing is decoded yet. Those of an invalid one are zeros.
func (r *Reader) Values(n int) (v Values) {
	base := r.signed()
	if r.Left() == 0 || r.data[0] > 8 || n*int(r.data[0]) > r.Left()-1 {
		r.Fail()
		return v
	}
	width, values := int(r.data[0]), r.data[1:]
	r.data = values[n*width:]
	return Values{base, width, values[:n*width+Slack]}
}

// Decode decodes as many rows as to has, from that one on.
func Decode[T Integer](to []T, v *Values, from int) {
	base, data := v.base, v.data
	if v.width > 0 {
		data = data[v.width*from:]
	}
	switch v.width {
	case 0:
		for i := range to {
			to[i] = T(base)
		}
	case 1:
		for i := range to {
			to[i] = T(base + uint64(data[i]))
		}
	case 2:
		for i := range to {
			to[i] = T(base + uint64(binary.LittleEndian.Uint16(data[2*i:])))
		}
	case 3:
		for i := range to {
			to[i] = T(base + uint64(binary.LittleEndian.Uint32(data[3*i:])&0xffffff))
		}
	case 4:
		for i := range to {
			to[i] = T(base + uint64(binary.LittleEndian.Uint32(data[4*i:])))
		}
	default:
		mask := ^uint64(0) >> (64 - 8*v.width)
		for i := range to {
			to[i] = T(base + binary.LittleEndian.Uint64(data[v.width*i:])&mask)
		}
	}
}

// Place decodes rows from that one on to their places in a column.
func Place[T Integer](to []T, v *Values, from int, places []uint16) {
	base, data := v.base, v.data
	if v.width > 0 {
		data = data[v.width*from:]
	}
	switch v.width {
	case 0:
		for _, at := range places {
			to[at] = T(base)
		}
	case 1:
		for i, at := range places {
			to[at] = T(base + uint64(data[i]))
		}
	case 2:
		for i, at := range places {
			to[at] = T(base + uint64(binary.LittleEndian.Uint16(data[2*i:])))
		}
	case 3:
		for i, at := range places {
			to[at] = T(base + uint64(binary.LittleEndian.Uint32(data[3*i:])&0xffffff))
		}
	default:
		mask := ^uint64(0) >> (64 - 8*v.width)
		for i, at := range places {
			to[at] = T(base + binary.LittleEndian.Uint64(data[v.width*i:])&mask)
		}
	}
}

// Read adds n rows that Append encoded.
func Read[T Integer](column []T, r *Reader, n int) []T {
	column, out := Extend(column, n)
	v := r.Values(n)
	Decode(out, &v, 0)
	return column
}

// ReadDelta adds n rows that AppendDelta encoded.
func ReadDelta[T Integer](column []T, r *Reader, n int) []T {
	before := r.signed()
	column = Read(column, r, n)
	for i, delta := range column[len(column)-n:] {
		before += uint64(delta)
		column[len(column)-n+i] = T(before)
	}
	return column
}

// Extend adds n rows, which are not cleared, and returns these, too.
func Extend[T any](column []T, n int) (all, added []T) {
	column = slices.Grow(column, n)[:len(column)+n]
	return column, column[len(column)-n:]
}
