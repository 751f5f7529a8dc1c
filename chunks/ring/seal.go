package ring

import (
	"errors"
	"sync/atomic"

	"gprof/chunks/mapping"
	"gprof/rawformat"
)

// progress is how far a chunk is sealed.
type progress struct {
	pages  int    // sealed
	next   uint32 // offset of the first block that begins behind them
	begun  bool   // next is set
	closed bool   // all of it, and the header
	broken bool   // the writer left something that is not a block
}

// sealAll seals the full pages of chunks that are in use, and the rest of those that
// were released. Only the housekeeper calls it. Chunks that are already sealed are
// skipped without taking ownership: while the oldest chunk is owned, a younger one
// would be discarded and leave a hole.
//
// Writers go on meanwhile, and no interleaving seals bytes that may still change:
//
//   - Discarding a chunk and reusing it requires ownership, just as sealing does, and
//     ownership ends when the next use has begun. So whatever is sealed belongs to one
//     use, and progress belongs to the owner.
//   - Release stores the phase after the writer's last commit and the close anchor,
//     and the sealer loads it before the commit word. So a chunk that is seen as
//     released is sealed to its end.
//   - A chunk that is released in between is seen as open: only its full pages below
//     the commit word are sealed, which nobody writes any more. The rest follows the
//     next time.
func (r *Ring) sealAll() error {
	var errs error
	for _, c := range r.chunks {
		switch c.ring.phase.Load() {
		case phaseSpare, phaseOpening, phaseSealed:
			continue
		}
		if !c.ring.owned.CompareAndSwap(false, true) {
			continue
		}
		errs = errors.Join(errs, c.sealOwned())
		c.ring.owned.Store(false)
	}
	return errs
}

// sealOwned seals as much as possible of a chunk that the sealer owns.
func (c *Chunk) sealOwned() error {
	released := c.ring.phase.Load() == phaseReleased
	err := c.seal(released)
	if released {
		c.ring.phase.Store(phaseSealed)
	}
	return err
}

// seal seals the full pages or, if the chunk is closed, all that have a committed byte,
// and the header. The caller owns the chunk.
func (c *Chunk) seal(closed bool) error {
	p := &c.ring.seal
	if p.closed || p.broken {
		return nil
	}
	if !p.begun {
		p.next, p.begun = c.fixed.FirstBlock, true
	}
	commit, err := c.committed()
	if err != nil {
		p.broken = closed // else its writer's next commit may mend it
		return err
	}
	for c.sealable(commit.Offset(), closed) {
		if err := c.sealPage(commit.Offset()); err != nil {
			p.broken = true
			return err
		}
	}
	if closed {
		h := c.fixed
		h.Commit = commit
		c.storeClose(&h)
		p.closed = true
	}
	return nil
}

// sealable reports whether the next page can be sealed: it has bytes below the commit
// offset, and none of them is going to change.
func (c *Chunk) sealable(offset uint32, closed bool) bool {
	begin := c.ring.seal.pages * rawformat.PageSize
	if closed {
		return begin < int(offset)
	}
	return begin < len(c.payload) && min(begin+rawformat.PageSize, len(c.payload)) <= int(offset)
}

// sealPage stores the next page's entry and finds the first block of the page
// after it.
func (c *Chunk) sealPage(offset uint32) error {
	p := &c.ring.seal
	begin := uint32(p.pages * rawformat.PageSize)
	end := begin + rawformat.PageSize
	first := uint32(rawformat.PageSize)
	if p.next < min(end, offset) {
		first = p.next - begin
	}
	next, err := skipBlocks(c.payload[:offset], p.next, end)
	if err != nil && c.goesOn(next, offset) {
		next, err = offset, nil
	}
	if err != nil {
		return err
	}
	crc := rawformat.PageCRC(c.fixed.Instance, c.fixed.Epoch, c.payload[begin:min(end, offset)])
	atomic.StoreUint64(mapping.Word(c.table, p.pages*entrySize), uint64(rawformat.MakePageEntry(crc, first)))
	p.next = next
	p.pages++
	return nil
}

// goesOn reports whether the block at an offset, of which the chunk holds only a
// part, continues in the writer's next chunk.
func (c *Chunk) goesOn(at, offset uint32) bool {
	return c.fixed.Straddles() && int(offset) == len(c.payload) && c.payload[at] != 0
}

// skipBlocks goes from the block at offset at to the first one that begins at or after
// to. All blocks that begin in committed should end in it; on an error it returns
// where the bad one begins.
func skipBlocks(committed []byte, at, to uint32) (uint32, error) {
	for at < to && int(at) < len(committed) {
		if n := committed[at]; n-1 < 0x7f && int(n) < len(committed)-int(at) { // the common case
			at += 1 + uint32(n)
			continue
		}
		n, size, err := rawformat.ReadUint(committed[at:])
		switch left := uint64(len(committed) - int(at) - size); {
		case err != nil:
		case n == 0:
			err = rawformat.ErrSyntax
		case n > left:
			err = rawformat.ErrTruncated
		}
		if err != nil {
			return at, &rawformat.Error{Off: int64(rawformat.HeadSize) + int64(at), What: "block", Err: err}
		}
		at += uint32(size) + uint32(n)
	}
	return at, nil
}
