package chunks

import (
	"errors"
	"sync/atomic"

	"gprof/rawformat"
)

// admitted reports whether the session has room for one more chunk file. The
// smallest ring needs no leave: without it a process could not record at all,
// and it is the others that are over.
func (r *Ring) admitted() bool {
	s := r.o.Slot
	return s == nil || r.files.Load() < minFiles || s.grow(int64(r.o.ChunkFile))
}

// want says how many chunks there was no room for.
func (r *Ring) want(chunks int64) {
	if r.o.Slot != nil {
		r.o.Slot.want = chunks * int64(r.o.ChunkFile)
	}
}

// obey follows the session: its limit, and what another process asked for.
func (r *Ring) obey() error {
	s := r.o.Slot
	if s == nil {
		return nil
	}
	r.limit.Store(s.c.Limit())
	return s.c.guard(func() error {
		if !s.mine() {
			return nil // and what is asked there is asked of another process
		}
		done := s.load(rawformat.OffSlotRequest)
		if done == 0 {
			return nil
		}
		err := r.giveUp(int64(done))
		// The request must not outlive its time: if the clock is set back it
		// would hit what is recorded from now on.
		atomic.CompareAndSwapUint64(s.c.word(s.at+rawformat.OffSlotRequest), done, 0)
		return err
	})
}

// giveUp discards the released chunks that were done at or before, in ns of
// realtime, but for the last two files. Spare chunks go in place of the newest
// of them: who asks wants room.
func (r *Ring) giveUp(done int64) (errs error) {
	r.pressed.Store(pressedFor)
	for n := r.doneBy(done); n > 0 && r.files.Load() > minFiles; n-- {
		if r.spares.Load() > int64(r.o.Pressed) {
			errs = errors.Join(errs, r.yield(1))
			continue
		}
		c := r.discardBy(done)
		if c == nil {
			break
		}
		errs = errors.Join(errs, r.giveBack(c))
	}
	return errors.Join(errs, r.publish())
}

// discardBy gives up the oldest released chunk if it was done at or before: a
// writer may have taken some meanwhile.
func (r *Ring) discardBy(done int64) *Chunk {
	r.mu.lock()
	defer r.mu.unlock()
	if c := r.released.first; c == nil || doneTime(c) > done {
		return nil
	}
	return r.discard()
}

// doneBy is how many released chunks were done at or before.
func (r *Ring) doneBy(done int64) (n int) {
	r.mu.lock()
	defer r.mu.unlock()
	r.drain()
	for c := r.released.first; c != nil && doneTime(c) <= done; c = r.released.next(c) {
		n++
	}
	return n
}

// doneTime is when c was done, in ns of realtime; never 0.
func doneTime(c *Chunk) int64 { return max(1, c.fixed.Close.Realtime) }

// publish says in the slot what the ring holds now.
func (r *Ring) publish() error {
	s := r.o.Slot
	if s == nil {
		return nil
	}
	p := rawformat.Slot{Held: r.held(r.files.Load()), Chunk: int64(r.o.ChunkFile), Discarded: uint64(r.Discarded())}
	spare := int(r.files.Load()) - minFiles // files that may go
	r.mu.lock()
	r.drain()
	p.Start, p.End = r.RangeStart(), r.RangeEnd()
	n := 0
	for c := r.released.first; c != nil && n < spare; c = r.released.next(c) {
		if n < len(p.Oldest) {
			p.Oldest[n] = doneTime(c)
		}
		n++
	}
	r.mu.unlock()
	p.Released = int64(n) * p.Chunk
	return s.c.guard(func() error {
		if s.mine() {
			s.c.publish(s.at, &p)
			s.live()
		}
		return nil
	})
}
