package runs

import (
	"encoding/binary"

	"gprof/stream/internal/pack"
)

// slabBytes is what an arena takes from the heap at a time.
const slabBytes = 256 << 10

// arena holds blocks in memory, one after the other, in a chain for each run. It is
// emptied as a whole and keeps its slabs, so that it makes no garbage. A block in it is
//
//	next     8 bytes: the ref of the run's next block, 0 if it is the last
//	length   4 bytes
//	block
type arena struct {
	slabs [][]byte
	full  int   // slabs before the current one
	used  int64 // bytes
}

const arenaHeader = 8 + 4

// ref is a place in an arena: the number of a slab from 1, and an offset.
type ref uint64

// chain is a list of blocks of an arena; the zero chain is empty.
type chain struct {
	first, last ref
	size        int64 // bytes of all blocks
}

// append adds a block to a chain.
func (a *arena) append(c *chain, block []byte) {
	to := a.room(arenaHeader + len(block) + pack.Slack)
	slab := a.slabs[a.full]
	at := ref(a.full+1)<<32 | ref(len(slab))
	slab = binary.LittleEndian.AppendUint64(slab, 0)
	slab = binary.LittleEndian.AppendUint32(slab, uint32(len(block)))
	a.slabs[a.full] = append(slab, block...)
	a.used += int64(to)
	if c.first == 0 {
		c.first = at
	} else {
		binary.LittleEndian.PutUint64(a.at(c.last), uint64(at))
	}
	c.last = at
	c.size += int64(len(block))
}

// room sees to it that the current slab has room for n bytes, and returns n.
func (a *arena) room(n int) int {
	for a.full < len(a.slabs) && cap(a.slabs[a.full])-len(a.slabs[a.full]) < n {
		a.full++
	}
	if a.full == len(a.slabs) {
		a.slabs = append(a.slabs, make([]byte, 0, max(slabBytes, n)))
	}
	return n
}

// at is the memory from a place on.
func (a *arena) at(r ref) []byte { return a.slabs[r>>32-1][r&(1<<32-1):] }

// block returns the block at r, followed by slack, and the next one of its run.
func (a *arena) block(r ref) (block []byte, next ref) {
	p := a.at(r)
	n := binary.LittleEndian.Uint32(p[8:])
	return p[arenaHeader : arenaHeader+n], ref(binary.LittleEndian.Uint64(p))
}

// empty forgets all blocks, and frees slabs that were made for large ones.
func (a *arena) empty() {
	keep := a.slabs[:0]
	for _, slab := range a.slabs {
		if cap(slab) <= slabBytes {
			keep = append(keep, slab[:0])
		}
	}
	clear(a.slabs[len(keep):])
	a.slabs, a.full, a.used = keep, 0, 0
}
