package perfevent

import (
	"bytes"
	"encoding/binary"
)

// fields reads fields. Past the end it is short and returns zeros.
type fields struct {
	rest  []byte
	short bool
}

// take returns the next n bytes, read-only.
func (f *fields) take(n uint64) []byte {
	if n > uint64(len(f.rest)) {
		f.short, f.rest = true, nil
		return nil
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

// skip skips n fields of 8 bytes.
func (f *fields) skip(n int) { f.take(8 * uint64(n)) }

// u64, u32, i32 and u16 read an integer.
func (f *fields) u64() uint64 {
	if b := f.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (f *fields) u32() uint32 {
	if b := f.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (f *fields) i32() int32 { return int32(f.u32()) }

func (f *fields) u16() uint16 {
	if b := f.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// text is the rest, up to the first NUL.
func (f *fields) text() string {
	text, _, _ := bytes.Cut(f.rest, []byte{0})
	f.rest = nil
	return string(text)
}
