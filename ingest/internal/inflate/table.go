package inflate

import "math/bits"

const (
	maxLiterals  = 288
	maxDistances = 32
	maxCode      = 15 // bits
	// tableBits is how many bits are looked up at once. Longer codes are rare, and
	// looked up twice.
	tableBits = 10
	furthers  = 1 << (maxCode - tableBits)
)

// table says what bits mean: each entry is found by the bits that come next.
type table struct {
	entries [1<<tableBits + maxLiterals*furthers]entry
	used    int // with those of longer codes
}

// entry is what some bits mean: from the lowest bit on how long the code is (5 bits),
// its kind (3), how many bits more belong to it (8), and a value (16), to which those
// are added.
type entry uint32

// The kinds of entries.
const (
	invalid = iota // no code begins so
	literal        // the value is a byte
	base           // of a length or a distance
	end            // of the block
	further        // the code is longer: the value is where its entries are
)

func newEntry(kind, extra, value int) entry { return entry(kind<<5 | extra<<8 | value<<16) }

func (e entry) size() uint    { return uint(e & 31) }
func (e entry) kind() uint    { return uint(e >> 5 & 7) }
func (e entry) extra() uint   { return uint(e >> 8 & 31) }
func (e entry) value() uint32 { return uint32(e >> 16) }

// sub is where the entry of a longer code is.
func (e entry) sub(next uint64) uint32 { return e.value() + uint32(next>>tableBits)&(furthers-1) }

// build makes the table of codes whose lengths are given; 0 is none. It is not ok if
// there are more than fit.
func (t *table) build(lengths []uint8, meaning []entry) (ok bool) {
	var count, next [maxCode + 2]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	code := 0
	for n := 1; n <= maxCode; n++ {
		code = (code + count[n-1]) << 1
		if next[n] = code; code+count[n] > 1<<n {
			return false
		}
	}
	clear(t.entries[:1<<tableBits])
	t.used = 1 << tableBits
	for symbol, n := range lengths {
		if n > 0 {
			t.put(int(bits.Reverse16(uint16(next[n]))>>(16-n)), uint(n), meaning[symbol]|entry(n))
			next[n]++
		}
	}
	return true
}

// put makes e the entry of all bits that begin with a code, the first bit lowest.
func (t *table) put(code int, size uint, e entry) {
	part, step := t.entries[:1<<tableBits], 1<<size
	if size > tableBits {
		part, code, step = t.further(code&(1<<tableBits-1)), code>>tableBits, 1<<(size-tableBits)
	}
	for i := code; i < len(part); i += step {
		part[i] = e
	}
}

// further are the entries of the longer codes that begin with some bits.
func (t *table) further(begin int) []entry {
	at := &t.entries[begin]
	if at.kind() != further {
		*at = newEntry(further, 0, t.used)
		clear(t.entries[t.used : t.used+furthers])
		t.used += furthers
	}
	return t.entries[at.value():][:furthers]
}
