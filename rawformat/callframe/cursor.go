package callframe

import "encoding/binary"

// cursor reads fields of a section. Past the end it is short and returns zeros.
type cursor struct {
	data  []byte
	at    int
	end   int
	short bool
}

func (c *cursor) left() int { return c.end - c.at }

// take returns the next n bytes.
func (c *cursor) take(n uint64) []byte {
	if c.short || n > uint64(c.left()) {
		c.short = true
		return nil
	}
	b := c.data[c.at:][:n]
	c.at += int(n)
	return b
}

func (c *cursor) u8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// maxLEB is the length of a 64-bit number of seven bits a byte.
const maxLEB = 10

// uleb reads an unsigned number of seven bits a byte.
func (c *cursor) uleb() (v uint64) {
	for i := range maxLEB {
		b := c.u8()
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v
		}
	}
	c.short = true
	return 0
}

// sleb reads a signed one.
func (c *cursor) sleb() (v int64) {
	for i := range maxLEB {
		b := c.u8()
		v |= int64(b&0x7f) << (7 * i)
		if b >= 0x80 {
			continue
		}
		if shift := 7 * (i + 1); shift < 64 && b&0x40 != 0 {
			v |= -1 << shift
		}
		return v
	}
	c.short = true
	return 0
}

// Encodings of pointers: a form, and what it is relative to.
const (
	formOf     = 0x0f
	formWord   = 0x00
	formULEB   = 0x01
	formU16    = 0x02
	formU32    = 0x03
	formU64    = 0x04
	formSLEB   = 0x09
	formS16    = 0x0a
	formS32    = 0x0b
	formS64    = 0x0c
	relativeTo = 0x70
	toNothing  = 0x00
	toItself   = 0x10
	indirect   = 0x80
	omitted    = 0xff
)

// pointer reads a number in a form.
func (c *cursor) pointer(encoding byte) uint64 {
	switch encoding & formOf {
	case formWord, formU64, formS64:
		return c.u64()
	case formULEB:
		return c.uleb()
	case formSLEB:
		return uint64(c.sleb())
	case formU16:
		return uint64(c.u16())
	case formS16:
		return uint64(int16(c.u16()))
	case formU32:
		return uint64(c.u32())
	case formS32:
		return uint64(int32(c.u32()))
	}
	c.short = true
	return 0
}

// address reads the address of code, where the section is at an address; not ok if it is relative
// to what is unknown here.
func (c *cursor) address(encoding byte, section uint64) uint64 {
	here := section + uint64(c.at)
	v := c.pointer(encoding)
	switch {
	case encoding&indirect != 0:
		c.short = true
	case encoding&relativeTo == toItself:
		v += here
	case encoding&relativeTo != toNothing:
		c.short = true
	}
	return v
}
