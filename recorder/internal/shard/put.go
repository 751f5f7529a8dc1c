package shard

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"gprof/rawformat"
)

// The functions here write at p+n and check no bounds: the caller has made sure that there
// is room for the longest block and [overshoot] bytes more. They are the fast path of
// markers; everything else uses package rawformat.

// overshoot is how far behind a value the stores may reach.
const overshoot = 8

func put8(p unsafe.Pointer, n uintptr, v uint64) { *(*byte)(unsafe.Add(p, n)) = byte(v) }

func put16(p unsafe.Pointer, n uintptr, v uint64) {
	binary.LittleEndian.PutUint16((*[2]byte)(unsafe.Add(p, n))[:], uint16(v))
}

func put64(p unsafe.Pointer, n uintptr, v uint64) {
	binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Add(p, n))[:], v)
}

// putNumber writes a number of one of the three wire types and returns the offset behind
// it.
func putNumber(p unsafe.Pointer, n uintptr, wire rawformat.WireType, v uint64) uintptr {
	switch wire {
	case rawformat.WireSint:
		v = rawformat.Zigzag(int64(v))
	case rawformat.WireFloat:
		put64(p, n, v)
		return n + 8
	}
	return putUint(p, n, v)
}

// putUint writes a U.
func putUint(p unsafe.Pointer, n uintptr, v uint64) uintptr {
	if v < 1<<14 {
		return putShort(p, n, v)
	}
	return putLong(p, n, v)
}

// putShort writes a U below 1<<14. It is small enough to be inlined.
func putShort(p unsafe.Pointer, n uintptr, v uint64) uintptr {
	if v < 0x80 {
		put8(p, n, v)
		return n + 1
	}
	put16(p, n, v&0x7f|0x80|v>>7<<8)
	return n + 2
}

// putLong writes a U of any size. Up to 56 bits it spreads the value's groups of seven bits
// over the bytes of one word.
func putLong(p unsafe.Pointer, n uintptr, v uint64) uintptr {
	if v >= 1<<56 {
		b := rawformat.AppendUint(unsafe.Slice((*byte)(unsafe.Add(p, n)), 10)[:0], v)
		return n + uintptr(len(b))
	}
	word, size := groups(v)
	put64(p, n, word)
	return n + size
}

// groups encodes a U in one word, with the value's groups of seven bits spread over its
// bytes, and returns its size. From 1<<56 on the size is above 8, and the word means
// nothing.
func groups(v uint64) (word uint64, size uintptr) {
	size = uintptr(9*bits.Len64(v)+64) >> 6
	v = v&0x000000000fffffff | v&0x00fffffff0000000<<4
	v = v&0x00003fff00003fff | v&0x0fffc0000fffc000<<2
	v = v&0x007f007f007f007f | v&0x3f803f803f803f80<<1
	return v | 0x8080808080808080&(1<<((8*size-8)&63)-1), size
}

// putText writes a B, cut at maxText.
func putText(p unsafe.Pointer, n uintptr, a Arg) uintptr {
	if a.bits > maxText {
		b := appendCut(unsafe.Slice((*byte)(unsafe.Add(p, n)), maxText+2)[:0], a.string())
		return n + uintptr(len(b))
	}
	n = putShort(p, n, a.bits)
	copy(unsafe.Slice((*byte)(unsafe.Add(p, n)), a.bits), unsafe.Slice(a.text, a.bits))
	return n + uintptr(a.bits)
}
