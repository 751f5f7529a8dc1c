package stream

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A packed column is
//
//	first    S (zig-zag ULEB128)
//	width    1 byte, 0 to 8
//	values   width bytes for each row, little endian
//
// Each value is the zig-zag form of a difference: to the row before in a chained
// column, to the first row in any other. The widest value gives the width, so
// that equal rows take none. All rows having one width makes both directions
// several times faster than numbers of their own lengths, at about their size.

// slack is how many bytes there must be behind a block, because values are
// loaded and stored 8 bytes at a time.
const slack = 8

// integer is what can be packed.
type integer interface {
	~int64 | ~uint64 | ~int32 | ~uint8
}

// packer encodes columns of at most blockRows rows.
type packer struct {
	scratch [blockRows]uint64
}

// appendPacked encodes a column that is not empty.
func appendPacked[T integer](dst []byte, p *packer, column []T) []byte {
	values := p.scratch[:len(column)]
	first := uint64(column[0])
	var all uint64
	for i, v := range column {
		z := zigzag(uint64(v) - first)
		values[i] = z
		all |= z
	}
	return appendValues(binary.AppendVarint(dst, int64(first)), values, all)
}

// appendChained encodes a column that is not empty.
func appendChained[T integer](dst []byte, p *packer, column []T) []byte {
	values := p.scratch[:len(column)]
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
	dst = slices.Grow(dst, width*len(values)+slack)
	out := dst[len(dst) : end+slack]
	for _, v := range values {
		binary.LittleEndian.PutUint64(out, v)
		out = out[width:]
	}
	return dst[:end]
}

// readPacked adds n rows that appendPacked encoded.
func readPacked[T integer](column []T, r *blockReader, n int) []T {
	column, out := extend(column, n)
	first, width, data := r.packed(n)
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

// readChained adds n rows that appendChained encoded.
func readChained[T integer](column []T, r *blockReader, n int) []T {
	column, out := extend(column, n)
	v, width, data := r.packed(n)
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

// extend adds n rows, whatever they hold, and returns them too.
func extend[T any](column []T, n int) (all, added []T) {
	column = slices.Grow(column, n)[:len(column)+n]
	return column, column[len(column)-n:]
}

func zigzag(v uint64) uint64   { return v<<1 ^ uint64(int64(v)>>63) }
func unzigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }
