package shard

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// fastBlock is more than the longest block that emit and endPlain write: length, kind,
// event (4), stack, time and duration (10 each), shape, two numbers (10 each).
const fastBlock = 50

// emitElse is Emit where assembly does not record the marker: because it is not built,
// the marker has a text or a stack, or it is the first one of a page, a chunk or a
// goroutine, or the processor has no shard that is free.
//
//go:noinline
func emitElse(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick) {
	r, d := Current.Load(), h.Event
	if r == nil || d == nil {
		return
	}
	if h.Track.IsUnwanted() {
		return
	}
	if d.PlainSeq > r.defined.Load() || r.exposed != nil {
		r.mark(h, kind, r.clock.Now(), 0, heldAt(d.First, a), heldAt(d.Second, b), nil)
		return
	}
	if now == 0 {
		now = r.clock.Now()
	}
	track := uint32(0)
	if h.Track != nil {
		track = r.trackID(h.Track)
	}
	s := r.enter()
	if s == nil {
		return
	}
	of := who{goroutine: rt.GoroutineAt(r.goroutines), track: track}
	if uint32(s.word) >= s.soft || s.goroutine != of.goroutine || s.track != of.track {
		if !r.turn(s, fastBlock, of, now) {
			return
		}
	}
	s.plain(d, kind, a, b, now)
}

// plain writes the block, commits it, and gives the shard back.
func (s *shard) plain(d *registry.Definition, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick) {
	p := unsafe.Add(s.base, uint32(s.word))
	put64(p, 0, d.Head|uint64(kind)<<8)
	n := uintptr(d.HeadLen)
	delta := rawformat.Zigzag(int64(now - s.last))
	s.last = now
	n = putUint(p, n, delta)
	put8(p, n, d.Shape)
	n++
	if d.Fields > 0 {
		n = putPlain(p, n, d.First, heldAt(d.First, a).bits)
	}
	if d.Fields > 1 {
		n = putPlain(p, n, d.Second, heldAt(d.Second, b).bits)
	}
	put8(p, 0, uint64(n-1))
	word := s.word + (uint64(n) | 1<<32)
	s.word = word
	rt.ReleaseBoth(s.commit, word, &s.lock)
}

// shardHint tells goroutines apart: their stacks lie at different addresses.
// It may change when a stack grows or moves, which does no harm.
func shardHint(onStack *byte) uintptr {
	at := uintptr(unsafe.Pointer(onStack))
	return at>>13 ^ at>>20
}
