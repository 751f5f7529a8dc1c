package rawformat

import "math/bits"

// Cursor reads fields from bytes. It remembers the first error and where it was; after an
// error every read returns zero. The bytes remain the caller's, and what Text and Args
// return points into them.
type Cursor struct {
	b    []byte
	base int64 // absolute offset of b[0]
	at   int
	err  error
}

// NewCursor returns a cursor over b, whose first byte is at the absolute offset base.
func NewCursor(b []byte, base int64) Cursor { return Cursor{b: b, base: base} }

// Err is the first error, an [*Error].
func (c *Cursor) Err() error { return c.err }

// Offset is the absolute offset of the next byte.
func (c *Cursor) Offset() int64 { return c.base + int64(c.at) }

// Len is the number of bytes that are left, 0 after an error.
func (c *Cursor) Len() int {
	if c.err != nil {
		return 0
	}
	return len(c.b) - c.at
}

func (c *Cursor) fail(at int, what string, err error) {
	if c.err == nil {
		c.err = &Error{c.base + int64(at), what, err}
	}
}

// Uint reads a U. One byte is the common case.
func (c *Cursor) Uint(what string) uint64 {
	if c.err == nil && c.at < len(c.b) && c.b[c.at] < 0x80 {
		v := uint64(c.b[c.at])
		c.at++
		return v
	}
	return c.longUint(what)
}

func (c *Cursor) longUint(what string) uint64 {
	if c.err != nil {
		return 0
	}
	if c.at+8 <= len(c.b) {
		if v, n := WordUint(le.Uint64(c.b[c.at:])); n > 0 {
			c.at += n
			return v
		}
	}
	v, n, err := ReadUint(c.b[c.at:])
	if err != nil {
		c.fail(c.at+n, what, err)
		return 0
	}
	c.at += n
	return v
}

// WordUint reads a U of up to 8 bytes that begins in the lowest byte of w, and
// returns its length. n is 0 when it is longer.
func WordUint(w uint64) (v uint64, n int) {
	stop := ^w & 0x8080808080808080
	if stop == 0 {
		return 0, 0
	}
	n = bits.TrailingZeros64(stop)/8 + 1
	w &= (stop ^ (stop - 1)) & 0x7f7f7f7f7f7f7f7f // up to the first byte without bit 7
	w = w&0x007f007f007f007f | w>>1&0x3f803f803f803f80
	w = w&0x00003fff00003fff | w>>2&0x0fffc0000fffc000
	w = w&0x000000000fffffff | w>>4&0x00fffffff0000000
	return w, n
}

// ReadUint reads a U from the front of b and returns its length. On an error the length is
// the number of valid bytes.
func ReadUint(b []byte) (v uint64, n int, err error) {
	for shift := 0; ; shift += 7 {
		if n >= len(b) {
			return 0, n, ErrTruncated
		}
		x := b[n]
		if shift == 63 && x > 1 {
			return 0, n, ErrOverflow
		}
		v |= uint64(x&0x7f) << shift
		n++
		if x < 0x80 {
			return v, n, nil
		}
	}
}

// Sint reads an S.
func (c *Cursor) Sint(what string) int64 { return Unzigzag(c.Uint(what)) }

// Fixed reads an X.
func (c *Cursor) Fixed(what string) uint64 {
	if c.Len() < 8 {
		c.fail(len(c.b), what, ErrTruncated)
		return 0
	}
	v := le.Uint64(c.b[c.at:])
	c.at += 8
	return v
}

// Text reads a B of at most [MaxText] bytes.
func (c *Cursor) Text(what string) []byte {
	at := c.at
	n := c.Uint(what)
	if n > MaxText {
		c.fail(at, what, ErrTooBig)
	}
	return c.Bytes(int(n), what)
}

// Bytes reads n bytes.
func (c *Cursor) Bytes(n int, what string) []byte {
	if c.err != nil {
		return nil
	}
	if n > len(c.b)-c.at {
		c.fail(len(c.b), what, ErrTruncated)
		return nil
	}
	b := c.b[c.at : c.at+n : c.at+n]
	c.at += n
	return b
}

// PCs reads a P of at most [MaxStack] pcs and appends them to dst.
func (c *Cursor) PCs(dst []uint64, what string) []uint64 {
	at := c.at
	n := c.Uint(what)
	if n > MaxStack {
		c.fail(at, what, ErrTooBig)
		return dst
	}
	var pc uint64
	for i := uint64(0); i < n && c.err == nil; i++ {
		if i == 0 {
			pc = c.Uint(what)
		} else {
			pc += uint64(c.Sint(what))
		}
		dst = append(dst, pc)
	}
	return dst
}

// Block reads one block and returns its kind and a cursor over its fields. At
// the end of the bytes it returns false without an error.
func (c *Cursor) Block() (k Kind, fields Cursor, ok bool) {
	if c.Len() == 0 {
		return 0, Cursor{}, false
	}
	at := c.at
	n := c.Uint("block length")
	switch {
	case c.err != nil:
	case n == 0:
		c.fail(at, "block length", ErrSyntax)
	case n > MaxBlock:
		c.fail(at, "block length", ErrTooBig)
	}
	body := c.Bytes(int(n), "block")
	if c.err != nil {
		return 0, Cursor{}, false
	}
	return Kind(body[0]), NewCursor(body[1:], c.Offset()-int64(n)+1), true
}

// Unzigzag is the inverse of [Zigzag].
func Unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
