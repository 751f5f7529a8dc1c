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
	to := values
	for ; len(rows) > 4 && len(to) > 4; rows, to = rows[4:], to[4:] {
		to[0], to[1], to[2], to[3] = uint64(column[rows[0]]), uint64(column[rows[1]]), uint64(column[rows[2]]), uint64(column[rows[3]])
	}
	for i, row := range rows {
		to[i] = uint64(column[row])
	}
	return values
}

// Append encodes a column of 1 to MaxRows rows.
func Append[T Integer](dst []byte, column []T) []byte {
	base, size := Span(column)
	return appendSpan(dst, column, base, widthOf(size))
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

// Span returns a base that all rows are above of, or at, and how many bits what they are
// above it takes: if it is 64, modulo 2^64. That is not always the least row: or-ing how far
// rows are from the first takes half the time of finding it.
func Span[T Integer](column []T) (base uint64, size int) {
	base = uint64(column[0])
	var apart, signs int64
	for ; len(column) > 4; column = column[4:] {
		a, b, c, d := int64(uint64(column[0])-base), int64(uint64(column[1])-base), int64(uint64(column[2])-base), int64(uint64(column[3])-base)
		apart |= unsigned(a) | unsigned(b) | unsigned(c) | unsigned(d)
		signs |= a | b | c | d
	}
	for _, v := range column {
		d := int64(uint64(v) - base)
		apart |= unsigned(d)
		signs |= d
	}
	return spanOf(base, uint64(apart), signs)
}

// unsigned has as many bits as d without its sign.
func unsigned(d int64) int64 { return d ^ d>>63 }

// spanOf is that of rows that are, or-ed, so far apart from one of them, as numbers without and with their signs.
func spanOf(one, apart uint64, signs int64) (base uint64, size int) {
	size = bits.Len64(apart)
	if signs < 0 {
		one -= 1 << size
		size++
	}
	return one, size
}

// widthOf is the width of numbers of so many bits.
func widthOf(size int) int { return (size + 7) / 8 }

// put stores values of a width, which may spill over into the slack. The widths that are
// common have loops of their own, in which they are constant. Values are stored, and by
// the functions below loaded, four at a time: to check the slices takes longer than a value.
// That something is left behind the four, which the last loop takes, saves one more check.
func put[T Integer](out []byte, column []T, base uint64, width int) {
	switch width {
	case 1:
		for ; len(column) > 4 && len(out) > 4; column, out = column[4:], out[4:] {
			out[0], out[1] = byte(uint64(column[0])-base), byte(uint64(column[1])-base)
			out[2], out[3] = byte(uint64(column[2])-base), byte(uint64(column[3])-base)
		}
	case 2:
		for ; len(column) > 4 && len(out) > 8; column, out = column[4:], out[8:] {
			binary.LittleEndian.PutUint16(out, uint16(uint64(column[0])-base))
			binary.LittleEndian.PutUint16(out[2:], uint16(uint64(column[1])-base))
			binary.LittleEndian.PutUint16(out[4:], uint16(uint64(column[2])-base))
			binary.LittleEndian.PutUint16(out[6:], uint16(uint64(column[3])-base))
		}
	case 3:
		for ; len(column) > 4 && len(out) > 12; column, out = column[4:], out[12:] {
			binary.LittleEndian.PutUint32(out, uint32(uint64(column[0])-base))
			binary.LittleEndian.PutUint32(out[3:], uint32(uint64(column[1])-base))
			binary.LittleEndian.PutUint32(out[6:], uint32(uint64(column[2])-base))
			binary.LittleEndian.PutUint32(out[9:], uint32(uint64(column[3])-base))
		}
	case 4:
		for ; len(column) > 4 && len(out) > 16; column, out = column[4:], out[16:] {
			binary.LittleEndian.PutUint32(out, uint32(uint64(column[0])-base))
			binary.LittleEndian.PutUint32(out[4:], uint32(uint64(column[1])-base))
			binary.LittleEndian.PutUint32(out[8:], uint32(uint64(column[2])-base))
			binary.LittleEndian.PutUint32(out[12:], uint32(uint64(column[3])-base))
		}
	}
	for _, v := range column {
		binary.LittleEndian.PutUint64(out, uint64(v)-base)
		out = out[width:]
	}
}

// AppendDelta encodes a column of 1 to MaxRows rows by the differences between them.
func AppendDelta[T Integer](dst []byte, e *Encoder, column []T) []byte {
	base := uint64(0)
	if len(column) > 1 {
		base = uint64(column[1]) - uint64(column[0])
	}
	all, last := e.scratch[:len(column)], uint64(column[0])
	all[0] = base // no other difference would do, and not widen the column
	dst = binary.AppendVarint(dst, int64(last-base))
	var apart, signs int64
	column, deltas := column[1:], all[1:]
	for ; len(column) > 4 && len(deltas) > 4; column, deltas = column[4:], deltas[4:] {
		v0, v1, v2, v3 := uint64(column[0]), uint64(column[1]), uint64(column[2]), uint64(column[3])
		d0, d1, d2, d3 := v0-last, v1-v0, v2-v1, v3-v2
		deltas[0], deltas[1], deltas[2], deltas[3], last = d0, d1, d2, d3, v3
		a, b, c, d := int64(d0-base), int64(d1-base), int64(d2-base), int64(d3-base)
		apart |= unsigned(a) | unsigned(b) | unsigned(c) | unsigned(d)
		signs |= a | b | c | d
	}
	for i, v := range column {
		delta := uint64(v) - last
		deltas[i], last = delta, uint64(v)
		d := int64(delta - base)
		apart |= unsigned(d)
		signs |= d
	}
	base, size := spanOf(base, uint64(apart), signs)
	return appendSpan(dst, all, base, widthOf(size))
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
	base, data, width := v.base, v.data, v.width
	if width > 0 {
		data = data[width*from:]
	}
	switch width {
	case 0:
		for i := range to {
			to[i] = T(base)
		}
		return
	case 1:
		for ; len(to) > 4 && len(data) > 4; to, data = to[4:], data[4:] {
			to[0], to[1] = T(base+uint64(data[0])), T(base+uint64(data[1]))
			to[2], to[3] = T(base+uint64(data[2])), T(base+uint64(data[3]))
		}
	case 2:
		for ; len(to) > 4 && len(data) > 8; to, data = to[4:], data[8:] {
			to[0] = T(base + uint64(binary.LittleEndian.Uint16(data)))
			to[1] = T(base + uint64(binary.LittleEndian.Uint16(data[2:])))
			to[2] = T(base + uint64(binary.LittleEndian.Uint16(data[4:])))
			to[3] = T(base + uint64(binary.LittleEndian.Uint16(data[6:])))
		}
	case 3:
		for ; len(to) > 4 && len(data) > 12; to, data = to[4:], data[12:] {
			to[0] = T(base + uint64(binary.LittleEndian.Uint32(data)&0xffffff))
			to[1] = T(base + uint64(binary.LittleEndian.Uint32(data[3:])&0xffffff))
			to[2] = T(base + uint64(binary.LittleEndian.Uint32(data[6:])&0xffffff))
			to[3] = T(base + uint64(binary.LittleEndian.Uint32(data[9:])&0xffffff))
		}
	case 4:
		for ; len(to) > 4 && len(data) > 16; to, data = to[4:], data[16:] {
			to[0] = T(base + uint64(binary.LittleEndian.Uint32(data)))
			to[1] = T(base + uint64(binary.LittleEndian.Uint32(data[4:])))
			to[2] = T(base + uint64(binary.LittleEndian.Uint32(data[8:])))
			to[3] = T(base + uint64(binary.LittleEndian.Uint32(data[12:])))
		}
	}
	mask := ^uint64(0) >> (64 - 8*width)
	for i := range to {
		to[i] = T(base + binary.LittleEndian.Uint64(data[width*i:])&mask)
	}
}

// Place decodes rows from that one on to their places in a column.
func Place[T Integer](to []T, v *Values, from int, places []uint16) {
	base, data, width := v.base, v.data, v.width
	if width > 0 {
		data = data[width*from:]
	}
	switch width {
	case 0:
		for _, at := range places {
			to[at] = T(base)
		}
		return
	case 1:
		for ; len(places) > 4 && len(data) > 4; places, data = places[4:], data[4:] {
			to[places[0]], to[places[1]] = T(base+uint64(data[0])), T(base+uint64(data[1]))
			to[places[2]], to[places[3]] = T(base+uint64(data[2])), T(base+uint64(data[3]))
		}
	case 2:
		for ; len(places) > 4 && len(data) > 8; places, data = places[4:], data[8:] {
			to[places[0]] = T(base + uint64(binary.LittleEndian.Uint16(data)))
			to[places[1]] = T(base + uint64(binary.LittleEndian.Uint16(data[2:])))
			to[places[2]] = T(base + uint64(binary.LittleEndian.Uint16(data[4:])))
			to[places[3]] = T(base + uint64(binary.LittleEndian.Uint16(data[6:])))
		}
	case 3:
		for ; len(places) > 4 && len(data) > 12; places, data = places[4:], data[12:] {
			to[places[0]] = T(base + uint64(binary.LittleEndian.Uint32(data)&0xffffff))
			to[places[1]] = T(base + uint64(binary.LittleEndian.Uint32(data[3:])&0xffffff))
			to[places[2]] = T(base + uint64(binary.LittleEndian.Uint32(data[6:])&0xffffff))
			to[places[3]] = T(base + uint64(binary.LittleEndian.Uint32(data[9:])&0xffffff))
		}
	}
	mask := ^uint64(0) >> (64 - 8*width)
	for i, at := range places {
		to[at] = T(base + binary.LittleEndian.Uint64(data[width*i:])&mask)
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
	for at := len(column) - n; at < len(column); at++ {
		before += uint64(column[at])
		column[at] = T(before)
	}
	return column
}

// Extend adds n rows, which are not cleared, and returns these, too.
func Extend[T any](column []T, n int) (all, added []T) {
	column = slices.Grow(column, n)[:len(column)+n]
	return column, column[len(column)-n:]
}
