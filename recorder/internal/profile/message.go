package profile

import (
	"fmt"

	"gprof/rawformat"
	"gprof/rawformat/protobuf"
)

// message reads the fields of a protobuf message one by one.
type message struct {
	b      []byte // what is left
	field  uint64
	number uint64 // the value of a varint field, else 0
	bytes  []byte // the value of a field with a length, else nil
	err    error  // of class errProfile
}

// next reads a field; false at the end and on an error.
func (m *message) next() bool {
	if m.err != nil || len(m.b) == 0 {
		return false
	}
	m.number, m.bytes = 0, nil
	key := m.varint()
	m.field = key >> 3
	switch key & 7 {
	case protobuf.Varint:
		m.number = m.varint()
	case protobuf.Fixed64:
		m.take(8)
	case protobuf.Bytes:
		m.bytes = m.take(m.varint())
	case protobuf.Fixed32:
		m.take(4)
	default:
		m.fail("wire type", key&7)
	}
	return m.err == nil
}

// numbers appends the values of a repeated number, which may be packed.
func (m *message) numbers(dst []uint64) []uint64 {
	if m.bytes == nil {
		return append(dst, m.number)
	}
	for p := (message{b: m.bytes}); len(p.b) > 0; {
		dst = append(dst, p.varint())
		if p.err != nil {
			m.err = p.err
			return dst
		}
	}
	return dst
}

func (m *message) varint() uint64 {
	v, n, err := rawformat.ReadUint(m.b)
	if err != nil {
		m.fail(err.Error(), 0)
		return 0
	}
	m.b = m.b[n:]
	return v
}

func (m *message) take(n uint64) []byte {
	if n > uint64(len(m.b)) {
		m.fail("length", n)
		return nil
	}
	b := m.b[:n:n]
	m.b = m.b[n:]
	return b
}

func (m *message) fail(what string, got uint64) {
	if m.err == nil {
		m.err = fmt.Errorf("%w: %s %d with %d bytes left", errProfile, what, got, len(m.b))
	}
}
