package shard

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// endPlain records an interval of at most two numbers: what emit is to the other
// markers. It is called only where a writer can't meet a file that was cut short.
func (r *Recording) endPlain(s *Span) {
	track := uint32(0)
	if s.h.Track != nil {
		track = r.trackID(s.h.Track)
	}
	w, counter, goroutine := takeOwn(r)
	if w == nil {
		if w = r.enterElse(); w == nil {
			return
		}
		counter, goroutine = r.readBoth()
	}
	taken(w)
	now := rt.Tick(counter)
	if now == 0 {
		now = r.clock.Slowly()
	}
	if uint32(w.word) >= w.soft || goroutine != w.goroutine || track != w.track {
		if !r.turn(w, fastBlock, who{goroutine: goroutine, track: track}, now) {
			return
		}
	}
	word := w.word + w.plainInterval(s, now)
	w.word = word
	rt.ReleaseBoth(w.commit, word, &w.lock)
}

// plainInterval writes the block, and returns what that adds to the commit word.
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

// putPlain is putNumber, and quick for small integers.
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

// readBoth is what takeOwn reads beside the shard.
func (r *Recording) readBoth() (counter, goroutine uint64) {
	if r.clock.Counter.Load() {
		counter = rt.ReadCounter()
	}
	return counter, rt.GoroutineAt(r.goroutines)
}
