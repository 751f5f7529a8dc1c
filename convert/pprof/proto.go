package pprof

import (
	"encoding/binary"

	"gprof/rawformat/profileproto"
)

// appendNumber appends a field that is a number. 0 is what a missing one means.
func appendNumber(dst []byte, field int, n uint64) []byte {
	if n == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(field)<<3|profileproto.WireVarint)
	return binary.AppendUvarint(dst, n)
}

func appendBool(dst []byte, field int, b bool) []byte {
	if !b {
		return dst
	}
	return appendNumber(dst, field, 1)
}

// appendBytes appends a field that is a string, a message, or packed numbers.
// An empty one is appended, too: it may be one of several.
func appendBytes[T string | []byte](dst []byte, field int, value T) []byte {
	dst = binary.AppendUvarint(dst, uint64(field)<<3|profileproto.WireBytes)
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}
