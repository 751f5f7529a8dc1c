package perf

import (
	"math/bits"

	"gprof/rawformat/perfevent"
)

// expected estimates how many stacks and frames will come of samples, before any is made.
type expected struct {
	stacks  distinct
	shared  distinct            // addresses that are the same in all processes
	private map[int32]*distinct // others, by pid
}

// maxPrivate bounds the processes whose addresses are counted.
const maxPrivate = 32

// add adds a call chain: each caller in it is the end of a stack. Programs are at another
// page in each process, so that only the place in the page tells the addresses of stacks
// apart, which makes of two one now and then, and never the other way round.
func (e *expected) add(pid int32, chain []uint64) {
	const inPage, moved = 1<<12 - 1, 1 << 46 // where Linux puts what it may put anywhere
	own := e.private[pid]
	if own == nil && len(e.private) < maxPrivate {
		if e.private == nil {
			e.private = map[int32]*distinct{}
		}
		own = &distinct{}
		e.private[pid] = own
	}
	stack := uint64(0)
	for i := len(chain) - 1; i >= 0; i-- {
		address := chain[i]
		if address == 0 || address >= perfevent.MarkLowest {
			continue
		}
		stack = hashed(stack ^ (address&inPage + 1))
		e.stacks.add(stack)
		if address < moved || address >= 1<<63 {
			e.shared.add(hashed(address))
		} else if own != nil {
			own.add(hashed(address))
		}
	}
}

func hashed(n uint64) uint64 {
	n *= 0x9e3779b97f4a7c15
	return n ^ n>>29
}

// atLeast is how many there are, but for what the estimate may be off.
func (e *expected) atLeast() (stacks, frames int64) {
	for _, d := range e.private {
		frames = max(frames, d.count())
	}
	frames += e.shared.count()
	stacks = e.stacks.count()
	return stacks - stacks/16, frames - frames/16
}

// distinct counts hashes that are not the same: it keeps those that are in a part of all,
// which becomes smaller as they become more.
type distinct struct {
	mask uint64 // of the bits that are 0 in the hashes that are kept
	seen map[uint64]struct{}
}

// maxSeen bounds what is kept; the count is off by a few percent.
const maxSeen = 1 << 12

func (d *distinct) add(hash uint64) {
	if hash&d.mask != 0 {
		return
	}
	if d.seen == nil {
		d.seen = map[uint64]struct{}{}
	}
	d.seen[hash] = struct{}{}
	for len(d.seen) > maxSeen {
		d.mask = d.mask<<1 | 1
		for h := range d.seen {
			if h&d.mask != 0 {
				delete(d.seen, h)
			}
		}
	}
}

// count is about how many there were.
func (d *distinct) count() int64 { return int64(len(d.seen)) << bits.OnesCount64(d.mask) }
