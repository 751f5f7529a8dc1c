package perf

import (
	"math/bits"

	"gprof/rawformat/perfevent"
)

// estimate estimates how many stacks and frames samples will make.
type estimate struct {
	stacks  distinctCounter
	shared  distinctCounter            // addresses common to all processes
	private map[int32]*distinctCounter // others, by pid

	pid    int32    // of the last sample
	chain  []uint64 // that of the last sample, the outermost first
	hashes []uint64 // of the stacks that end there
}

// maxPrivate bounds the processes whose addresses are counted.
const maxPrivate = 32

// add adds a call chain: each caller in it ends a stack. Programs are mapped at other pages in each
// process, so only the offset in the page identifies a stack's addresses. That confuses a few, so
// the estimate is never too high.
func (e *estimate) add(pid int32, chain []uint64) {
	const inPage, moved = 1<<12 - 1, 1 << 46 // where Linux puts what it may put anywhere
	own := e.private[pid]
	if own == nil && len(e.private) < maxPrivate {
		if e.private == nil {
			e.private = map[int32]*distinctCounter{}
		}
		own = &distinctCounter{}
		e.private[pid] = own
	}
	if pid != e.pid {
		e.pid, e.chain = pid, e.chain[:0]
	}
	n := common(chain, e.chain)
	e.chain, e.hashes = e.chain[:n], e.hashes[:n]
	stack := uint64(0)
	if n > 0 {
		stack = e.hashes[n-1]
	}
	for i := len(chain) - 1 - n; i >= 0; i-- {
		address := chain[i]
		if address != 0 && address < perfevent.MarkLowest {
			stack = hashed(stack ^ (address&inPage + 1))
			e.stacks.add(stack)
			if address < moved || address >= 1<<63 {
				e.shared.add(hashed(address))
			} else if own != nil {
				own.add(hashed(address))
			}
		}
		e.chain, e.hashes = append(e.chain, address), append(e.hashes, stack)
	}
}

// common is how many calls of a path, the innermost first, are those of the last one, the outermost first. Most
// samples were taken in functions whose callers had been there before.
func common[T comparable](path, last []T) int {
	n := 0
	for n < min(len(path), len(last)) && path[len(path)-1-n] == last[n] {
		n++
	}
	return n
}

func hashed(n uint64) uint64 {
	n *= 0x9e3779b97f4a7c15
	return n ^ n>>29
}

// atLeast is a lower bound.
func (e *estimate) atLeast() (stacks, frames int64) {
	for _, d := range e.private {
		frames = max(frames, d.count())
	}
	frames += e.shared.count()
	stacks = e.stacks.count()
	return stacks - stacks/16, frames - frames/16
}

// distinctCounter counts distinct hashes: it keeps those within a part of all, which is halved as
// they become more.
type distinctCounter struct {
	mask uint64 // bits that are 0 in the kept hashes
	seen map[uint64]struct{}
}

// maxSeen bounds the kept hashes; the count is a few percent off.
const maxSeen = 1 << 12

func (d *distinctCounter) add(hash uint64) {
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

// count is the approximate number.
func (d *distinctCounter) count() int64 { return int64(len(d.seen)) << bits.OnesCount64(d.mask) }
