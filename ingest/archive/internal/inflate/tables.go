package inflate

import "math/bits"

const (
	maxBits      = 15  // of a code
	maxLiterals  = 286 // and lengths
	maxDistances = 30

	// allLiterals and allDistances have codes in a block without tables; those beyond the others mean nothing.
	allLiterals, allDistances = 288, 32

	// literalBits and distanceBits are how much of a code finds an entry, or a table for the rest.
	literalBits, distanceBits = 11, 9
	// subTables is the most of the second kind: a code of that many bits has at least another beside it.
	subTables = maxLiterals / 2
)

// entry is what a code means:
//
//	literal   isLiteral, and the byte
//	length    its base, or that of a distance: more bits follow the code
//	table     isOther|isTable, and where that is: the rest of the code finds the entry there
//	end       isOther|isEnd
//	none      isOther
//
// Bits 16 to 30 are the value, 8 to 11 the bits of the code, 0 to 7 those with what follows.
type entry uint32

const (
	isLiteral entry = 1 << 31
	isOther   entry = 1 << 15
	isTable   entry = 1 << 14
	isEnd     entry = 1 << 13
)

// value is a length or distance whose code is at the beginning of some bits.
func (e entry) value(bits uint64) uint64 {
	return uint64(e>>16) + bits&(1<<(e&63)-1)>>(e>>8&15)
}

// literalEntries and distanceEntries are what the symbols mean, without the bits of their codes.
var literalEntries, distanceEntries = func() (literals [allLiterals]entry, distances [allDistances]entry) {
	for i := range 256 {
		literals[i] = isLiteral | entry(i)<<16
	}
	literals[256] = isOther | isEnd
	for i, base := 257, 3; i < maxLiterals; i++ {
		extra := max(0, (i-257)/4-1)
		literals[i] = entry(base)<<16 | entry(extra)
		base += 1 << extra
	}
	literals[maxLiterals-1] = maxLength << 16
	literals[maxLiterals], literals[maxLiterals+1] = isOther, isOther
	distances[maxDistances], distances[maxDistances+1] = isOther, isOther
	for i, base := 0, 1; i < maxDistances; i++ {
		extra := max(0, i/2-1)
		distances[i] = entry(base)<<16 | entry(extra)
		base += 1 << extra
	}
	return literals, distances
}()

// lengthEntries are what the symbols mean that lengths of codes are written in.
var lengthEntries = func() (all [len(order)]entry) {
	for i := range all {
		all[i] = entry(i) << 16
	}
	return all
}()

// build makes a table of codes by their lengths. It is not ok if there are too many codes, or, except for a single
// one of one bit, too few.
func build(table []entry, first uint, lengths []uint8, meanings []entry) (ok bool) {
	var count [maxBits + 1]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	var next [maxBits + 1]int // code of each length
	code, longest := 0, 0
	for n := 1; n <= maxBits; n++ {
		code <<= 1
		next[n] = code
		if code += count[n]; count[n] > 0 {
			longest = n
		}
		if code > 1<<n {
			return false
		}
	}
	if code != 1<<maxBits {
		if longest > 1 || code > 1<<(maxBits-1) {
			return false
		}
		for i := range table[:1<<first] {
			table[i] = isOther
		}
	}
	longer := next[first+1] >> 1 // the codes that need a second table begin with that or more
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		n := uint(n)
		code := next[n]
		next[n]++
		part := table[:1<<first]
		if n > first {
			n -= first
			begin, prefix := 1<<first+(code>>n-longer)<<(maxBits-first), code>>n
			table[reversed(prefix, first)] = isOther | isTable | entry(begin)<<16
			part, code = table[begin:begin+1<<(maxBits-first)], code&(1<<n-1)
		}
		e := meanings[symbol] + entry(n)*(1+1<<8)
		for at := reversed(code, n); at < len(part); at += 1 << n {
			part[at] = e
		}
	}
	return true
}

// reversed are the n bits of a code as they lie in the stream.
func reversed(code int, n uint) int { return int(bits.Reverse16(uint16(code)) >> (16 - n)) }

// fixed makes the tables of a block that has none.
func (d *Decoder) fixed() (ok bool) {
	literals, distances := d.lengths[:allLiterals], d.lengths[allLiterals:]
	for i := range literals {
		switch {
		case i < 144, i >= 280:
			literals[i] = 8
		case i < 256:
			literals[i] = 9
		default:
			literals[i] = 7
		}
	}
	for i := range distances {
		distances[i] = 5
	}
	return build(d.literals[:], literalBits, literals, literalEntries[:]) && build(d.distances[:], distanceBits, distances, distanceEntries[:])
}

// order is that in which the lengths of the codes of lengths come.
var order = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the tables that a block begins with.
func (d *Decoder) dynamic() (ok bool) {
	head, ok := d.take(14)
	literals, distances, codes := int(head&31)+257, int(head>>5&31)+1, int(head>>10)+4
	if !ok || literals > maxLiterals || distances > maxDistances {
		return false
	}
	var lengths [len(order)]uint8
	for _, i := range order[:codes] {
		n, ok := d.take(3)
		if !ok {
			return false
		}
		lengths[i] = uint8(n)
	}
	if !build(d.distances[:], distanceBits, lengths[:], lengthEntries[:]) || !d.readLengths(d.lengths[:literals+distances]) {
		return false
	}
	return build(d.literals[:], literalBits, d.lengths[:literals], literalEntries[:]) &&
		build(d.distances[:], distanceBits, d.lengths[literals:literals+distances], distanceEntries[:])
}

// readLengths reads the lengths of codes by the table of distances, which is used for the codes of those first.
func (d *Decoder) readLengths(lengths []uint8) (ok bool) {
	for i := 0; i < len(lengths); {
		d.fill()
		e := d.distances[d.bits&(1<<distanceBits-1)]
		if e&isOther != 0 || !d.drop(uint8(e)) {
			return false
		}
		symbol := uint8(e >> 16)
		if symbol < 16 {
			lengths[i] = symbol
			i++
			continue
		}
		again := repeats[symbol-16]
		more, ok := d.take(again.bits)
		n := again.least + int(more)
		if !ok || n > len(lengths)-i || again.last && i == 0 {
			return false
		}
		length := uint8(0)
		if again.last {
			length = lengths[i-1]
		}
		for range n {
			lengths[i] = length
			i++
		}
	}
	return true
}

// repeats are the symbols that stand for several lengths: the last one, or 0.
var repeats = [...]struct {
	bits  uint8
	least int
	last  bool
}{{2, 3, true}, {3, 3, false}, {7, 11, false}}
