package recorder

import (
	"sync/atomic"
	"unsafe"

	"gprof/rawformat"
)

// fastBlock is more than the longest block that emit and endPlain write: length, kind,
// event (4), stack, time and duration (10 each), shape, two numbers (10 each).
const fastBlock = 50

// emit records a marker of at most two fields that is no interval. It is the hot
// path: a clock, and some ten stores. What is not plain goes the long way; so does
// what comes first in a page or a chunk, in turn.
//
// It can't panic, which would be fatal between procPin and procUnpin: the only
// foreign memory that it touches is the chunk's, in which turn has made sure of
// room.
//
//go:noinline
func (h handle) emit(kind rawformat.Kind, a, b arg) {
	r := recording.Load()
	if r == nil || h.d == nil {
		return
	}
	track := uint32(0)
	if h.track != nil {
		if h.track.isUnwanted() {
			return
		}
		track = r.track(h.track)
	}
	d := h.d
	if !d.plain || d.seq > r.defined.Load() {
		r.mark(h, kind, r.clock.now(), 0, a, b, nil)
		return
	}
	var s *shard // what enter does, here because a call would cost
	if len(r.own) > 0 {
		if p := uint(procPin()); p < uint(len(r.own)) {
			s = &r.own[p]
			takeOwn(&s.lock)
		}
	}
	if s == nil || atomic.LoadUint32(&s.shut) != 0 {
		if r.exposed != nil {
			r.mark(h, kind, r.clock.now(), 0, a, b, nil)
			return
		}
		if s = r.enterElse(s); s == nil {
			return
		}
	}
	var now tick
	var goroutine uint64
	if r.clock.counter.Load() {
		var counter uint64
		counter, goroutine = readBoth(r.goroutines)
		now = tick(counter)
	} else {
		now, goroutine = r.clock.slowly(), goroutineAt(r.goroutines)
	}
	if uint32(s.word) >= s.soft || goroutine != s.goroutine || track != s.track {
		if !r.turn(s, fastBlock, who{goroutine: goroutine, track: track}, now) {
			return
		}
	}
	p := unsafe.Add(s.base, uint32(s.word))
	put64(p, 0, d.head|uint64(kind)<<8)
	n := uintptr(d.headLen)
	delta := rawformat.Zigzag(int64(now - s.last))
	s.last = now
	if delta < 1<<14 {
		put64(p, n, delta&0x7f|0x80|delta>>7<<8|d.behindTime)
		n += 3
	} else {
		n = putLong(p, n, delta)
		put8(p, n, d.shape)
		n++
	}
	if d.fields > 0 {
		v := a.bits
		if d.first == rawformat.WireSint {
			v = rawformat.Zigzag(int64(v))
		}
		if v < 1<<14 && d.first != rawformat.WireFloat {
			n = putShort(p, n, v)
		} else {
			n = putBits(p, n, d.first, v)
		}
	}
	if d.fields > 1 {
		v := b.bits
		if d.second == rawformat.WireSint {
			v = rawformat.Zigzag(int64(v))
		}
		if v < 1<<14 && d.second != rawformat.WireFloat {
			n = putShort(p, n, v)
		} else {
			n = putBits(p, n, d.second, v)
		}
	}
	put8(p, 0, uint64(n-1))
	word := s.word + (uint64(n) | 1<<32)
	s.word = word
	pinned := s.pinned
	releaseBoth(s.commit, word, &s.lock)
	if pinned {
		procUnpin()
	}
}

// shardHint tells goroutines apart: their stacks lie at different addresses.
// It may change when a stack grows or moves, which does no harm.
func shardHint(onStack *byte) uintptr {
	at := uintptr(unsafe.Pointer(onStack))
	return at>>13 ^ at>>20
}
