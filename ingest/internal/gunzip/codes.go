package gunzip

import "math/bits"

const (
	maxCode = 15 // bits
	maxLit  = 288
	maxDist = 32

	// Codes of up to so many bits are found by one load, longer ones by two.
	litBits    = 11
	distBits   = 8
	lengthBits = 7 // all

	// Entries of a complete code beyond the first table, at most: enough 286 11 15 and enough 30 8 15 of zlib.
	litMore  = 2342 - 1<<litBits
	distMore = 402 - 1<<distBits
)

// entry is what a code stands for: the bits of it and its extra ones, the number of those at bit 8, flags, and at bit 16 a byte,
// the least number, or where a table begins whose index has as many bits as extra. 0 is no code.
type entry uint32

const (
	used    = 31 // bits
	literal = 1 << 13
	special = 1 << 14 // the end of a block, or a table
	table   = 1 << 15
)

// more is the number of extra bits, in its place.
func more(n uint8) entry { return entry(n)<<8 | entry(n) }

func (e entry) byte() byte  { return byte(e >> 16) }
func (e entry) extra() uint { return uint(e >> 8 & used) }

// code is the bits of the code alone.
func (e entry) code() uint { return uint(e&used) - e.extra() }

// number is a length or distance: the least one, and what the extra bits say, which come after the code.
func (e entry) number(bits uint64) int {
	extra := e.extra()
	return int(e>>16) + int(bits>>((uint(e&used)-extra)&63)&(1<<extra-1))
}

// The symbols of a block, of distances, and of the lengths of codes.
var litSymbols, distSymbols, lengthSymbols = func() (lit, dist, lengths []entry) {
	for i := range 256 {
		lit = append(lit, literal|entry(i)<<16)
	}
	lit = append(lit, special)
	for i, least := 0, 3; i < 28; i++ {
		n := uint8(max(0, i/4-1))
		lit = append(lit, entry(least)<<16|more(n))
		least += 1 << n
	}
	lit = append(lit, maxMatch<<16, 0, 0)
	for i, least := 0, 1; i < 30; i++ {
		n := uint8(max(0, i/2-1))
		dist = append(dist, entry(least)<<16|more(n))
		least += 1 << n
	}
	dist = append(dist, 0, 0)
	for i := range 19 {
		lengths = append(lengths, literal|entry(i)<<16)
	}
	return lit, dist, lengths
}()

// find is the entry of the code that comes next.
func find(entries []entry, first uint, bits uint64) entry {
	e := entries[bits&(1<<first-1)]
	if e&table != 0 {
		e = entries[uint64(e>>16)+bits>>first&(1<<(e>>8&used)-1)]
	}
	return e
}

// build makes the entries of symbols whose codes have these lengths. It is not ok if that is no complete code; as
// for zlib, none is, and a single one of a bit.
func build(entries []entry, first uint, lens []uint8, symbols []entry) (ok bool) {
	var count, next [maxCode + 2]uint32
	longest := 0
	for _, n := range lens {
		count[n]++
		longest = max(longest, int(n))
	}
	clear(entries[:1<<first])
	if longest == 0 {
		return true
	}
	count[0] = 0
	for n := range maxCode {
		next[n+1] = (next[n] + count[n]) << 1
	}
	if after := next[longest] + count[longest]; after != 1<<longest && (after != 1 || longest != 1) {
		return false
	}
	if longest > int(first) {
		tables(entries, first, lens, next)
	}
	for symbol, n := range lens {
		if n == 0 {
			continue
		}
		code := bits.Reverse32(next[n]) >> (32 - n)
		next[n]++
		e := symbols[symbol]
		if e == 0 {
			continue // it must not occur
		}
		e += entry(n)
		if uint(n) <= first {
			for i := code; i < 1<<first; i += 1 << n {
				entries[i] = e
			}
			continue
		}
		t := entries[code&(1<<first-1)]
		for i := code >> first; i < 1<<(t>>8&used); i += 1 << (uint(n) - first) {
			entries[uint32(t>>16)+i] = e
		}
	}
	return true
}

// tables makes room for codes that are longer than the first table has bits: a table for each beginning, as large as
// the longest one needs.
func tables(entries []entry, first uint, lens []uint8, next [maxCode + 2]uint32) {
	for _, n := range lens {
		if uint(n) <= first {
			if n > 0 {
				next[n]++
			}
			continue
		}
		begin := bits.Reverse32(next[n]) >> (32 - n) & (1<<first - 1)
		next[n]++
		entries[begin] = max(entries[begin], entry(uint(n)-first)<<8)
	}
	at := 1 << first
	for i := range entries[:1<<first] {
		if size := entries[i] >> 8; size > 0 {
			entries[i] |= entry(at)<<16 | special | table
			clear(entries[at : at+1<<size])
			at += 1 << size
		}
	}
}

// fixed makes the entries of a block without codes of its own.
func (z *Reader) fixed() {
	lens := z.lens[:]
	for i := range lens {
		switch {
		case i < 144:
			lens[i] = 8
		case i < 256:
			lens[i] = 9
		case i < 280:
			lens[i] = 7
		case i < maxLit:
			lens[i] = 8
		default:
			lens[i] = 5
		}
	}
	build(z.lit[:], litBits, lens[:maxLit], litSymbols)
	build(z.dist[:], distBits, lens[maxLit:], distSymbols)
}

// order is that of the lengths of codes for lengths.
var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the codes of a block.
func (z *Reader) dynamic() error {
	head, err := z.number(14)
	if err != nil {
		return err
	}
	lits, dists, lengths := int(head&31)+257, int(head>>5&31)+1, int(head>>10)+4
	if lits > maxLit-2 || dists > maxDist-2 {
		return ErrCorrupt
	}
	var short [19]uint8
	for _, i := range order[:lengths] {
		n, err := z.number(3)
		if err != nil {
			return err
		}
		short[i] = uint8(n)
	}
	var entries [1 << lengthBits]entry
	if !build(entries[:], lengthBits, short[:], lengthSymbols) {
		return ErrCorrupt
	}
	if err := z.lengths(entries[:], z.lens[:lits+dists]); err != nil {
		return err
	}
	if !build(z.lit[:], litBits, z.lens[:lits], litSymbols) || !build(z.dist[:], distBits, z.lens[lits:lits+dists], distSymbols) {
		return ErrCorrupt
	}
	return nil
}

// lengths reads the lengths of codes.
func (z *Reader) lengths(entries []entry, lens []uint8) error {
	for i := 0; i < len(lens); {
		z.peek(lengthBits + 7)
		e := entries[z.bits&(1<<lengthBits-1)]
		if e == 0 {
			if z.n < lengthBits {
				return z.torn()
			}
			return ErrCorrupt
		}
		if _, err := z.take(e.code()); err != nil {
			return err
		}
		n, times, bits := e.byte(), 1, uint(0)
		switch n {
		case 16:
			if i == 0 {
				return ErrCorrupt
			}
			n, times, bits = lens[i-1], 3, 2
		case 17:
			n, times, bits = 0, 3, 3
		case 18:
			n, times, bits = 0, 11, 7
		}
		more, err := z.take(bits)
		if err != nil {
			return err
		}
		if times += int(more); times > len(lens)-i {
			return ErrCorrupt
		}
		for range times {
			lens[i] = n
			i++
		}
	}
	return nil
}
