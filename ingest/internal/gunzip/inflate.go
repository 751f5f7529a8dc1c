package gunzip

import (
	"encoding/binary"
)

// block reads the header of a block.
func (z *Reader) block() error {
	if z.final {
		z.final = false
		return z.trailer()
	}
	head, err := z.number(3)
	if err != nil {
		return err
	}
	z.final = head&1 != 0
	switch head >> 1 {
	case 0:
		return z.storedHead()
	case 1:
		z.fixed()
	case 2:
		if err := z.dynamic(); err != nil {
			return err
		}
	default:
		return ErrCorrupt
	}
	z.state = (*Reader).symbols
	return nil
}

// storedHead reads the length of a block of plain bytes.
func (z *Reader) storedHead() error {
	z.align()
	b, err := z.bytes(4)
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint16(b)
	if n != ^binary.LittleEndian.Uint16(b[2:]) {
		return ErrCorrupt
	}
	z.stored = int(n)
	z.state = (*Reader).plain
	return nil
}

// plain copies a part of a block of plain bytes.
func (z *Reader) plain() error {
	if z.stored == 0 {
		z.state = (*Reader).block
		return nil
	}
	if z.fill(1); z.pos == z.end {
		return z.torn()
	}
	n := copy(z.out[z.w:full], z.in[z.pos:min(z.end, z.pos+z.stored)])
	z.w, z.pos, z.stored = z.w+n, z.pos+n, z.stored-n
	return nil
}

// symbols unpacks a part of a block: quickly where input and output have room for a whole round,
// else one by one.
func (z *Reader) symbols() error {
	for z.w < full {
		unpack := z.fast
		if z.fill(ahead); z.end-z.pos < ahead {
			unpack = z.slow
		}
		more, err := unpack()
		if err != nil {
			return err
		}
		if !more {
			z.state = (*Reader).block
			return nil
		}
	}
	return nil
}

// slow unpacks one symbol, at the end of the input. There is no more at the end of a block.
func (z *Reader) slow() (more bool, err error) {
	z.peek(48)
	e := find(z.lit[:], litBits, z.bits)
	if e == 0 && z.n >= maxCode {
		return false, ErrCorrupt
	}
	bits, n := z.bits, e.code()
	if n == 0 || n > z.n {
		return false, z.torn()
	}
	switch {
	case e&literal != 0:
		z.take(n)
		z.out[z.w] = e.byte()
		z.w++
		return true, nil
	case e&special != 0:
		z.take(n)
		return false, nil
	}
	length := e.number(bits)
	if n += e.extra(); n > z.n {
		return false, z.torn()
	}
	d := find(z.dist[:], distBits, bits>>n)
	if d == 0 {
		if z.n-n >= maxCode {
			return false, ErrCorrupt
		}
		return false, z.torn()
	}
	distance := d.number(bits >> n)
	if n += d.code() + d.extra(); n > z.n {
		return false, z.torn()
	}
	if distance > z.w {
		return false, ErrCorrupt
	}
	z.take(n)
	repeat(z.out, z.w, distance, length)
	z.w += length
	return true, nil
}

// fast unpacks symbols while a round has room. There is no more at the end of a block.
//
//  1. A load fills bits up, for three literals, or two and the length of a match.
//  2. Another one fills them up for its distance.
//  3. The match is copied.
func (z *Reader) fast() (more bool, err error) {
	in, out := z.in[:z.end], z.out
	bits, n, pos, w := z.bits, z.n, z.pos, z.w
	more = true
round:
	for pos+ahead <= len(in) && w < full {
		bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
		pos += int(63-n) >> 3
		n |= 56
		e := find(z.lit[:], litBits, bits)
		for i := 0; e&literal != 0; i++ {
			bits >>= e & used
			n -= uint(e & used)
			out[w] = e.byte()
			if w++; i == 2 {
				continue round
			}
			e = find(z.lit[:], litBits, bits)
		}
		length := e.number(bits)
		bits >>= e & used
		n -= uint(e & used)
		if more = e&special == 0; !more {
			break
		}
		bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
		pos += int(63-n) >> 3
		n |= 56
		d := find(z.dist[:], distBits, bits)
		distance := d.number(bits)
		bits >>= d & used
		n -= uint(d & used)
		if e == 0 || d == 0 || distance > w {
			err = ErrCorrupt
			break
		}
		repeat(out, w, distance, length)
		w += length
	}
	z.bits, z.n, z.pos, z.w = bits, n, pos, w
	return more, err
}

// repeat copies a match by words: out has room for one more behind it.
func repeat(out []byte, w, distance, length int) {
	if distance < word {
		for i := range length {
			out[w+i] = out[w+i-distance]
		}
		return
	}
	from, to := out[w-distance:w-distance+length+word], out[w:w+length+word]
	for i := 0; i < length; i += word {
		binary.LittleEndian.PutUint64(to[i:i+word], binary.LittleEndian.Uint64(from[i:i+word]))
	}
}
