package recorder

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"gprof/rawformat"
)

// The functions here write at p+n without a look at bounds: the caller made
// sure that [overshoot] bytes more than the longest block are there. They are
// the fast path of a marker; everything else uses package rawformat.

// overshoot is how far behind a value the stores may reach.
const overshoot = 8

func put8(p unsafe.Pointer, n uintptr, v uint64) { *(*byte)(unsafe.Add(p, n)) = byte(v) }

func put16(p unsafe.Pointer, n uintptr, v uint64) {
	binary.LittleEndian.PutUint16((*[2]byte)(unsafe.Add(p, n))[:], uint16(v))
}

func put64(p unsafe.Pointer, n uintptr, v uint64) {
	binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Add(p, n))[:], v)
}

// putNumber writes a number of one of the three wire types and returns the
// offset behind it.
func putNumber(p unsafe.Pointer, n uintptr, wire rawformat.WireType, v uint64) uintptr {
	switch wire {
	case rawformat.WireSint:
		v = rawformat.Zigzag(int64(v))
	case rawformat.WireFloat:
		put64(p, n, v)
		return n + 8
	}
	if v < 0x80 {
		put8(p, n, v)
		return n + 1
	}
	return putLong(p, n, v)
}

// putLong writes a U of any size. Up to 56 bits it spreads the value's groups
// of seven over the bytes of one word.
func putLong(p unsafe.Pointer, n uintptr, v uint64) uintptr {
	if v >= 1<<56 {
		b := rawformat.AppendUint(unsafe.Slice((*byte)(unsafe.Add(p, n)), 10)[:0], v)
		return n + uintptr(len(b))
	}
	size := uintptr(9*bits.Len64(v)+64) >> 6
	v = v&0x000000000fffffff | v&0x00fffffff0000000<<4
	v = v&0x00003fff00003fff | v&0x0fffc0000fffc000<<2
	v = v&0x007f007f007f007f | v&0x3f803f803f803f80<<1
	put64(p, n, v|0x8080808080808080&(1<<((8*size-8)&63)-1))
	return n + size
}
