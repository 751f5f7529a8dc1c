package shard

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// fastBlock is more than the longest block that emitSlow and endPlain write: length, kind,
// event (4), stack, time and duration (10 each), shape, two numbers (10 each).
const fastBlock = 50

// emitSlow records the markers that Emit's assembly can't: those with a text or a stack,
// the first one of a page, a chunk or a goroutine, and those on a processor whose shard is
// not free. Without assembly it records all.
//
//go:noinline
func emitSlow(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick) {
	r, d := Current.Load(), h.Event
	if r == nil || d == nil {
		return
	}
	if h.Track.IsUnwanted() {
		return
	}
	if d.PlainSeq > r.defined.Load() || r.faultErr != nil {
		r.mark(h, kind, r.clock.Now(), 0, argAt(d.First, a), argAt(d.Second, b), nil)
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
	of := context{goroutine: rt.GoroutineAt(r.goroutines), track: track}
	if uint32(s.word) >= s.soft || s.goroutine != of.goroutine || s.track != of.track {
		if s = r.ready(s, fastBlock, of, now); s == nil {
			return
		}
	}
	s.writePlain(d, kind, a, b, now)
}

// writePlain writes the block of a marker, commits it, and gives the shard back.
func (s *shard) writePlain(d *registry.Definition, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick) {
	p := unsafe.Add(s.base, uint32(s.word))
	put64(p, 0, d.Head|uint64(kind)<<8)
	n := uintptr(d.HeadLen)
	delta := rawformat.Zigzag(int64(now - s.last))
	s.last = now
	n = putUint(p, n, delta)
	put8(p, n, d.Shape)
	n++
	if d.Fields > 0 {
		n = putPlain(p, n, d.First, argAt(d.First, a).bits)
	}
	if d.Fields > 1 {
		n = putPlain(p, n, d.Second, argAt(d.Second, b).bits)
	}
	put8(p, 0, uint64(n-1))
	word := s.word + (uint64(n) | 1<<32)
	s.word = word
	rt.ReleaseBoth(s.commit, word, &s.lock)
}

// endPlain records an interval with at most two numbers, as Emit does other markers. It is
// called only where faults in mapped files are caught.
func (r *Recording) endPlain(s *Span) {
	track := uint32(0)
	if s.h.Track != nil {
		track = r.trackID(s.h.Track)
	}
	w, counter, goroutine := takeOwn(r)
	if w == nil {
		if w = r.enterSlow(); w == nil {
			return
		}
		counter, goroutine = r.readCounterAndGoroutine()
	}
	raceAcquire(w)
	now := rt.Tick(counter)
	if now == 0 {
		now = r.clock.Slowly()
	}
	if uint32(w.word) >= w.soft || goroutine != w.goroutine || track != w.track {
		if w = r.ready(w, fastBlock, context{goroutine: goroutine, track: track}, now); w == nil {
			return
		}
	}
	word := w.word + w.plainInterval(s, now)
	w.word = word
	rt.ReleaseBoth(w.commit, word, &w.lock)
	if int64(now-s.begin) > s.h.Event.Watch.Limit.Load() {
		r.noteSpan(s, now-s.begin)
	}
}

// plainInterval writes the block, and returns what to add to the commit word.
func (w *shard) plainInterval(s *Span, now rt.Tick) uint64 {
	d, p := s.h.Event, unsafe.Add(w.base, uint32(w.word))
	put64(p, 0, d.Head|uint64(rawformat.KindInterval)<<8)
	n := putUint(p, uintptr(d.HeadLen), rawformat.Zigzag(int64(now-w.last)))
	w.last = now
	n = putUint(p, n, uint64(max(0, now-s.begin)))
	put8(p, n, d.Shape)
	n++
	if d.Fields > 0 {
		n = putPlain(p, n, d.First, s.args[0].bits)
	}
	if d.Fields > 1 {
		n = putPlain(p, n, d.Second, s.args[1].bits)
	}
	put8(p, 0, uint64(n-1))
	return uint64(n) | 1<<32
}

// putPlain is putNumber with a short way for small integers.
func putPlain(p unsafe.Pointer, n uintptr, h registry.Holding, v uint64) uintptr {
	if h == registry.HoldsInt || h == registry.HoldsShort {
		v = rawformat.Zigzag(int64(v))
	}
	if v < 1<<14 && h != registry.HoldsFloat {
		return putShort(p, n, v)
	}
	if h == registry.HoldsFloat {
		put64(p, n, v)
		return n + 8
	}
	return putUint(p, n, v)
}

// readCounterAndGoroutine reads what takeOwn returns beside the shard.
func (r *Recording) readCounterAndGoroutine() (counter, goroutine uint64) {
	if r.clock.Counter.Load() {
		counter = rt.ReadCounter()
	}
	return counter, rt.GoroutineAt(r.goroutines)
}
