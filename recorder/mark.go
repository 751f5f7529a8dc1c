package recorder

import (
	"sync/atomic"
	"unsafe"

	"gprof/rawformat"
)

// fastBlock is more than the longest block that emit writes: length, kind,
// event (4), stack, time (10), shape, two numbers (10 each).
const fastBlock = 40

// emit records a marker. begin is that of an interval. It is the hot path: a
// clock, an exchange, and some ten stores. What is not plain goes the long way;
// so does what comes first in a page or a chunk, in turn.
//
// It can't panic: the only foreign memory that it touches is the chunk's, in
// which turn has made sure of room.
//
//go:noinline
func (h handle) emit(kind rawformat.Kind, begin Time, a, b arg, more *[2]arg) {
	r := recording.Load()
	if r == nil || h.d == nil {
		return
	}
	now := Now()
	d := h.d
	if !d.plain || kind == markInterval || d.seq > r.defined.Load() {
		r.mark(h, kind, now, begin, a, b, more)
		return
	}
	track := uint32(0)
	if h.track != nil {
		track = r.track(h.track)
	}
	s := &r.shards[shardHint(&now)&r.mask]
	if atomic.SwapUint32(&s.lock, 1) != 0 {
		if s = r.acquire(shardHint(&now)); s == nil {
			return
		}
	}
	if uint32(s.word) >= s.soft || track != s.track {
		if !r.turn(s, fastBlock, track, now) {
			return
		}
	}
	p := unsafe.Add(s.base, uint32(s.word))
	put64(p, 0, d.head|uint64(kind)<<8)
	n := uintptr(d.headLen)
	delta := rawformat.Zigzag(int64(now - s.last))
	s.last = now
	if delta < 1<<14 {
		put16(p, n, delta&0x7f|0x80|delta>>7<<8)
		n += 2
	} else {
		n = putLong(p, n, delta)
	}
	put8(p, n, uint64(d.shape))
	n++
	if len(d.wires) > 0 {
		n = putNumber(p, n, d.wires[0], a.bits)
		if len(d.wires) > 1 {
			n = putNumber(p, n, d.wires[1], b.bits)
		}
	}
	put8(p, 0, uint64(n-1))
	s.word += uint64(n) | 1<<32
	release(s.commit, s.word)
	releaseLock(&s.lock)
}

// shardHint tells goroutines apart: their stacks lie at different addresses.
// It may change when a stack grows or moves, which does no harm.
func shardHint(onStack *Time) uintptr {
	at := uintptr(unsafe.Pointer(onStack))
	return at>>13 ^ at>>20
}
