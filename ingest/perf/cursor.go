package perf

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Errors of a file, beside those of package damage.
var (
	ErrMagic   = errors.New("not a perf.data file")
	ErrVersion = errors.New("perf.data of a kind that can't be read")
	ErrEmpty   = errors.New("perf.data without a sample")
)

// cursor reads fields until there are no more; then it is short, and gives zeros.
type cursor struct {
	rest  []byte
	short bool
}

// take returns the next n bytes, which are the caller's to read only.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		c.short, c.rest = true, nil
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// text is what is left, up to the first NUL.
func (c *cursor) text() string {
	text, _, _ := bytes.Cut(c.rest, []byte{0})
	c.rest = nil
	return string(text)
}

// counted reads a text behind the size of its field.
func (c *cursor) counted() string {
	field := cursor{rest: c.take(uint64(c.u32()))}
	return field.text()
}
