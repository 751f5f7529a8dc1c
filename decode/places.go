package decode

import (
	"hash/maphash"
	"math/bits"
)

// places numbers the offsets of a file's code, from 1. The zero places is empty. It is a dedupe.Set for these alone, whose
// hash is a multiplication: a fleet looks up thousands of frames of each of its processes.
type places struct {
	offsets []uint64 // by place-1
	table   []int32  // 0: free; its length is a power of two
	shift   uint     // of hashes, to indexes of the table
	factor  uint64   // odd, and nobody knows it who writes a file
}

func (p *places) slot(offset uint64) uint { return uint(offset * p.factor >> (p.shift & 63)) }

// guess returns the place that is most likely that of an offset, if that has one; 0 if it has none. It does not look at
// offsets, so a loop of it does not wait for memory.
func (p *places) guess(offset uint64) int32 {
	if i := p.slot(offset); i < uint(len(p.table)) {
		return p.table[i]
	}
	return 0
}

// intern returns the place of an offset, a new one if it has none.
func (p *places) intern(offset uint64) int32 {
	if 2*len(p.offsets) >= len(p.table) {
		p.grow()
	}
	i := p.slot(offset)
	for ; p.table[i] != 0; i = (i + 1) & uint(len(p.table)-1) {
		if place := p.table[i]; p.offsets[place-1] == offset {
			return place
		}
	}
	p.offsets = append(p.offsets, offset)
	p.table[i] = int32(len(p.offsets))
	return p.table[i]
}

// grow makes a larger table.
func (p *places) grow() {
	if p.factor == 0 {
		p.factor = maphash.Comparable(maphash.MakeSeed(), 0) | 1
	}
	size := max(64, 2*len(p.table))
	p.table, p.shift = make([]int32, size), uint(64-bits.TrailingZeros(uint(size)))
	for i, offset := range p.offsets {
		at := p.slot(offset)
		for p.table[at] != 0 {
			at = (at + 1) & uint(size-1)
		}
		p.table[at] = int32(i + 1)
	}
}
