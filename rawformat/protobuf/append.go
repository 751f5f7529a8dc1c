// Package protobuf writes and reads the fields of messages of Protocol Buffers, without a schema: a profile is
// written as it comes and is larger than memory.
//
// See https://protobuf.dev/programming-guides/encoding.
package protobuf

import "encoding/binary"

// Wire types: how the value of a field is laid out.
const (
	Varint  = 0
	Fixed64 = 1
	Bytes   = 2
	Fixed32 = 5
)

// AppendTag appends the beginning of a field.
func AppendTag(dst []byte, field, wire int) []byte {
	return binary.AppendUvarint(dst, uint64(field)<<3|uint64(wire))
}

// AppendNumber appends a numeric field; 0 is the default.
func AppendNumber(dst []byte, field int, n uint64) []byte {
	if n == 0 {
		return dst
	}
	return binary.AppendUvarint(AppendTag(dst, field, Varint), n)
}

// AppendBool appends a field that is true or, by default, false.
func AppendBool(dst []byte, field int, b bool) []byte {
	if !b {
		return dst
	}
	return AppendNumber(dst, field, 1)
}

// AppendFixed64 appends a numeric field of 8 bytes; 0 is the default.
func AppendFixed64(dst []byte, field int, n uint64) []byte {
	if n == 0 {
		return dst
	}
	return binary.LittleEndian.AppendUint64(AppendTag(dst, field, Fixed64), n)
}

// AppendValue appends a numeric field, 0 as well: where one of several fields must be there.
func AppendValue(dst []byte, field int, n uint64) []byte {
	return binary.AppendUvarint(AppendTag(dst, field, Varint), n)
}

// AppendBytes appends a field that is a string, a message, or packed numbers.
// An empty one is appended, too: it may be one of several.
func AppendBytes[T string | []byte](dst []byte, field int, value T) []byte {
	return append(AppendLength(dst, field, len(value)), value...)
}

// AppendLength appends the beginning of a field of that many bytes, which are to follow.
func AppendLength(dst []byte, field, size int) []byte {
	return binary.AppendUvarint(AppendTag(dst, field, Bytes), uint64(size))
}
