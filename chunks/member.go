package chunks

import (
	"errors"
	"math"

	"gprof/rawformat"
)

// admitted reports whether the session has room for one more chunk file. The
// smallest ring needs no leave: without it a process could not record at all,
// and it is the others that are over.
func (r *Ring) admitted() bool {
	s := r.o.Slot
	return s == nil || r.files.Load() < minFiles || s.Grow(int64(r.o.ChunkFile))
}

// want says how many chunks there was no room for.
func (r *Ring) want(chunks int64) {
	if r.o.Slot != nil {
		r.o.Slot.Want(chunks * int64(r.o.ChunkFile))
	}
}

// obey follows the session: its limit, and what another process asked for.
func (r *Ring) obey() error {
	s := r.o.Slot
	if s == nil {
		return nil
	}
	r.limit.Store(s.Limit())
	return s.Obey()
}

// GiveUp discards the released chunks that were done at or before, in ns of
// realtime, but for the last two files. Spare chunks go in place of the newest
// of them: who asks wants room.
func (r *Ring) GiveUp(done int64) (errs error) {
	r.pressed.Store(pressedFor)
	n, last := r.doneBy(done)
	for ; n > 0 && r.files.Load() > minFiles; n-- {
		if r.spares.Load() > int64(r.o.Pressed) {
			errs = errors.Join(errs, r.yield(1))
			continue
		}
		c := r.discardBy(last)
		if c == nil {
			break
		}
		errs = errors.Join(errs, r.giveBack(c))
	}
	return errors.Join(errs, r.Publish())
}

// discardBy gives up the oldest released chunk if it was done at or before, in ns
// of CLOCK_MONOTONIC: a writer may have taken some meanwhile.
func (r *Ring) discardBy(done uint64) *Chunk {
	r.mu.lock()
	defer r.mu.unlock()
	if c := r.released.first; c == nil || c.done() > done {
		return nil
	}
	return r.discard()
}

// doneBy is how many released chunks were done at or before, in ns of realtime,
// and when the last of them was done, in ns of CLOCK_MONOTONIC.
func (r *Ring) doneBy(done int64) (n int, last uint64) {
	now := r.o.Anchor().Realtime
	r.mu.lock()
	defer r.mu.unlock()
	r.drain()
	r.doneTimes(now, func(c *Chunk, t int64) {
		if t <= done {
			n++
			last = max(last, c.done())
		}
	})
	return n, last
}

// doneTimes calls f with the released chunks, the newest first, and when they
// were done, in ns of realtime; not 0. The times of two processes are compared,
// and one time may stand for all before it: so they follow each other as the
// chunks do even if the clock was set back meanwhile. r.mu is held.
func (r *Ring) doneTimes(now int64, f func(c *Chunk, done int64)) {
	next := int64(math.MaxInt64)
	for c := r.released.last; c != nil; c = c.links[byDone].prev {
		next = max(1, min(plausible(c.fixed.Close.Realtime, now), next-1))
		f(c, next)
	}
}

// Publish says in the slot what the ring holds now.
func (r *Ring) Publish() error {
	s := r.o.Slot
	if s == nil {
		return nil
	}
	p := rawformat.Slot{Held: r.held(r.files.Load()), Chunk: int64(r.o.ChunkFile)}
	spare := int(r.files.Load()) - minFiles // files that may go
	now := r.o.Anchor().Realtime
	r.mu.lock()
	r.drain()
	p.Start, p.End, p.Discarded = r.RangeStart(), r.toldEnd(), uint64(r.Discarded())
	n := 0
	r.doneTimes(now, func(_ *Chunk, done int64) {
		copy(p.Oldest[1:], p.Oldest[:]) // the last ones stay
		p.Oldest[0] = done
		n++
	})
	r.mu.unlock()
	n = max(0, min(n, spare))
	clear(p.Oldest[min(n, len(p.Oldest)):])
	p.Released = int64(n) * p.Chunk
	return s.Publish(&p)
}
