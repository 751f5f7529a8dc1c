package chunks

import (
	"fmt"
	"slices"
	"sync/atomic"

	"gprof/rawformat"
)

// A chunk in heap memory goes through these states, as Gecko's do:
//
//	Created -> InUse -> (Full) -> Done -> Recycled -> InUse ...
//
// Anything else is a bug of ours.

// reservation is what the writer of a chunk has taken of its payload. It is
// the writer's; readers go by the commit word.
type reservation struct {
	at     uint32 // offset of the first byte that is not reserved
	blocks uint32 // that begin below
}

// must panics unless the chunk is in one of these states.
func (c *Chunk) must(states ...rawformat.State) {
	if s := c.State(); !slices.Contains(states, s) {
		panic(fmt.Sprintf("internal error: chunk in state %d, want one of %d", s, slices.Clone(states))) // a clone, lest every call allocates
	}
}

// openTail puts the chunk to use with c.fixed and reserves its first n bytes
// for the end of the block before it.
func (c *Chunk) openTail(n int) []byte {
	c.must(rawformat.StateCreated, rawformat.StateRecycled)
	c.fixed.FirstBlock = uint32(n)
	c.open()
	c.room = reservation{at: uint32(n)}
	return c.payload[:n]
}

// left is how many bytes can be reserved.
func (c *Chunk) left() int { return len(c.payload) - int(c.room.at) }

// reserve reserves n bytes for a new block, or what is left.
func (c *Chunk) reserve(n int) []byte {
	c.must(rawformat.StateInUse)
	if n >= c.left() {
		n = c.left()
		c.setState(rawformat.StateFull)
	}
	at := c.room.at
	c.room.at += uint32(n)
	c.room.blocks++
	return c.payload[at:c.room.at]
}

// commit lets readers see what was reserved; its bytes have been stored.
func (c *Chunk) commit() {
	atomic.StoreUint64(c.CommitWord(), uint64(rawformat.MakeCommit(c.room.at, c.room.blocks)))
}

// finish closes the chunk; its content stays.
func (c *Chunk) finish(now rawformat.Anchor) {
	c.must(rawformat.StateInUse, rawformat.StateFull)
	c.close(now)
}

// recycle makes the chunk ready for use again; its content is given up.
func (c *Chunk) recycle() {
	c.must(rawformat.StateDone, rawformat.StateCreated, rawformat.StateRecycled)
	c.clearEpoch()
	c.clearCommit()
	c.fixed = rawformat.Header{Version: rawformat.Version, Capacity: uint32(len(c.payload)), State: rawformat.StateRecycled}
	c.room = reservation{}
	c.storeFixed()
}
