// Package perfevent has the records of Linux' perf_event_open(2) as the kernel lays them out, in
// the memory it shares with the opener, and after the header of a perf.data file.
//
// A record is 8 bytes of head (kind, misc and size), and a body. The contents of a sample, and the
// trailer of other records, depend on how the event was opened, see [Layout]. Records of big-endian
// machines are not read.
//
// Records are not trusted: each length is checked before it is used. Results of parse functions
// point into the record.
package perfevent

import (
	"bytes"
	"encoding/binary"
)

// Fields reads fields. Past the end it is short and returns zeros.
type Fields struct {
	Rest  []byte
	Short bool
}

// Take returns the next n bytes, read-only.
func (f *Fields) Take(n uint64) []byte {
	if n > uint64(len(f.Rest)) {
		f.Short, f.Rest = true, nil
		return nil
	}
	b := f.Rest[:n]
	f.Rest = f.Rest[n:]
	return b
}

// Skip skips n fields of 8 bytes.
func (f *Fields) Skip(n int) { f.Take(8 * uint64(n)) }

// U64, U32, I32 and U16 read an integer.
func (f *Fields) U64() uint64 {
	if b := f.Take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (f *Fields) U32() uint32 {
	if b := f.Take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (f *Fields) I32() int32 { return int32(f.U32()) }

func (f *Fields) U16() uint16 {
	if b := f.Take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// Text is the rest, up to the first NUL.
func (f *Fields) Text() string {
	text, _, _ := bytes.Cut(f.Rest, []byte{0})
	f.Rest = nil
	return string(text)
}
