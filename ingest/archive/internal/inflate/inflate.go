// Package inflate unpacks deflate streams (RFC 1951) that are in memory as a whole, into memory. That takes half of the
// time of an [io.Reader]: there is no window to copy from, and the ends of input and output are far from most
// symbols, which need no check for them.
package inflate

import "encoding/binary"

// Decoder holds the tables of a block, to be reused. The zero Decoder is ready.
type Decoder struct {
	literals  [1<<literalBits + subTables*1<<(maxBits-literalBits)]entry // and lengths
	distances [1<<distanceBits + maxDistances/2*1<<(maxBits-distanceBits)]entry

	in   []byte
	at   int    // in in, behind what is in bits
	bits uint64 // the next ones, the lowest first
	n    uint8  // of them
	out  []byte
	to   int // in out

	lengths [allLiterals + allDistances]uint8
}

// Slack is how many more bytes than it makes Decode likes to have room for.
const Slack = 3 + maxLength + 16

const maxLength = 258

// Decode unpacks the stream that in begins with to the beginning of out. It returns the bytes that it read and made; it
// is not ok if the stream is damaged, or too long for out.
func (d *Decoder) Decode(out, in []byte) (read, made int, ok bool) {
	d.in, d.at, d.bits, d.n, d.out, d.to = in, 0, 0, 0, out, 0
	defer func() { d.in, d.out = nil, nil }()
	for last := false; !last; {
		var kind uint64
		if last, kind, ok = d.head(); !ok || !d.block(kind) {
			return 0, 0, false
		}
	}
	return d.at - int(d.n/8), d.to, true
}

func (d *Decoder) head() (last bool, kind uint64, ok bool) {
	head, ok := d.take(3)
	return head&1 == 1, head >> 1, ok
}

func (d *Decoder) block(kind uint64) (ok bool) {
	switch kind {
	case 0:
		return d.stored()
	case 1:
		return d.fixed() && d.symbols()
	case 2:
		return d.dynamic() && d.symbols()
	}
	return false
}

// take takes up to 16 bits.
func (d *Decoder) take(n uint8) (v uint64, ok bool) {
	d.fill()
	v = d.bits & (1<<n - 1)
	return v, d.drop(n)
}

// fill makes at least 56 bits ready, or as many as there are.
func (d *Decoder) fill() {
	for d.n < 56 && d.at < len(d.in) {
		d.bits |= uint64(d.in[d.at]) << d.n
		d.at++
		d.n += 8
	}
}

func (d *Decoder) drop(n uint8) (ok bool) {
	if n > d.n {
		return false
	}
	d.bits >>= n
	d.n -= n
	return true
}

// stored copies a block that is not compressed.
func (d *Decoder) stored() (ok bool) {
	d.at -= int(d.n / 8)
	d.bits, d.n = 0, 0
	if len(d.in)-d.at < 4 {
		return false
	}
	size, inverse := binary.LittleEndian.Uint16(d.in[d.at:]), binary.LittleEndian.Uint16(d.in[d.at+2:])
	from := d.in[d.at+4:]
	if size != ^inverse || int(size) > len(from) || int(size) > len(d.out)-d.to {
		return false
	}
	d.to += copy(d.out[d.to:], from[:size])
	d.at += 4 + int(size)
	return true
}

// symbols unpacks the symbols of a block, whose tables are ready.
func (d *Decoder) symbols() (ok bool) {
	for {
		if done, ok := d.fast(); done || !ok {
			return ok
		}
		if done, ok := d.one(); done || !ok {
			return ok
		}
	}
}

// fast unpacks symbols as long as no end is near. It reads 8 bytes at a time, of which those that are not used up are
// read again. It is one function, whose state is in registers.
func (d *Decoder) fast() (done, ok bool) {
	in, at, bits, n, out, to := d.in, d.at, d.bits, d.n, d.out, d.to
	lastIn, lastOut := len(in)-16, len(out)-Slack
	ok = true
symbols:
	for at <= lastIn && to <= lastOut {
		bits |= binary.LittleEndian.Uint64(in[at:]) << (n & 63)
		at += int((63 - n) >> 3)
		n |= 56 // enough for two literals and a length
		e := d.literals[bits&(1<<literalBits-1)]
		for literals := 0; e&isLiteral != 0; literals++ {
			out[to] = byte(e >> 16)
			to++
			bits >>= e & 63
			n -= uint8(e)
			if literals == 2 {
				continue symbols
			}
			e = d.literals[bits&(1<<literalBits-1)]
		}
		if e&isTable != 0 {
			bits >>= literalBits
			n -= literalBits
			e = d.literals[e>>16+entry(bits)&(1<<(maxBits-literalBits)-1)]
		}
		length := int(e.value(bits))
		bits >>= e & 63
		n -= uint8(e)
		switch {
		case e&isLiteral != 0:
			out[to] = byte(e >> 16)
			to++
			continue
		case e&isOther != 0:
			done, ok = true, e&isEnd != 0
			break symbols
		}

		bits |= binary.LittleEndian.Uint64(in[at:]) << (n & 63)
		at += int((63 - n) >> 3)
		n |= 56
		if e = d.distances[bits&(1<<distanceBits-1)]; e&isTable != 0 {
			bits >>= distanceBits
			n -= distanceBits
			e = d.distances[e>>16+entry(bits)&(1<<(maxBits-distanceBits)-1)]
		}
		from := to - int(e.value(bits))
		bits >>= e & 63
		n -= uint8(e)
		if from < 0 || e&isOther != 0 {
			return true, false
		}
		end := to + length
		if to-from < 16 {
			for ; to < end; to++ {
				out[to] = out[from]
				from++
			}
			continue
		}
		for ; to < end; to += 16 { // up to 15 bytes too far
			copy(out[to:to+16], out[from:from+16])
			from += 16
		}
		to = end
	}
	d.at, d.bits, d.n, d.to = at, bits, n, to
	return done, ok
}

// one unpacks one symbol, near an end.
func (d *Decoder) one() (done, ok bool) {
	e, ok := d.next(d.literals[:], literalBits)
	switch {
	case !ok:
		return true, false
	case e&isOther != 0:
		return true, e&isEnd != 0 && d.drop(uint8(e))
	case e&isLiteral != 0:
		if d.to == len(d.out) || !d.drop(uint8(e)) {
			return true, false
		}
		d.out[d.to] = byte(e >> 16)
		d.to++
		return false, true
	}
	length := int(e.value(d.bits))
	if !d.drop(uint8(e)) {
		return true, false
	}
	if e, ok = d.next(d.distances[:], distanceBits); !ok || e&isOther != 0 {
		return true, false
	}
	from := d.to - int(e.value(d.bits))
	if !d.drop(uint8(e)) || from < 0 || length > len(d.out)-d.to {
		return true, false
	}
	for ; length > 0; length-- {
		d.out[d.to] = d.out[from]
		d.to, from = d.to+1, from+1
	}
	return false, true
}

// next is the entry of the next symbol.
func (d *Decoder) next(table []entry, first uint8) (e entry, ok bool) {
	d.fill()
	e = table[d.bits&(1<<first-1)]
	if e&isTable == 0 || e&isLiteral != 0 {
		return e, true
	}
	ok = d.drop(first)
	return table[uint64(e>>16)+d.bits&(1<<(maxBits-first)-1)], ok
}
