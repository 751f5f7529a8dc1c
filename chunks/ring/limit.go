package ring

import (
	"errors"
	"math"

	"gprof/chunks/session"
	"gprof/rawformat"
)

// admitted reports whether the session has room for one more chunk file. The
// smallest ring needs no permission: without it a process could not record at all,
// and it is the others that hold too much.
func (r *Ring) admitted() bool {
	s := r.o.Slot
	return s == nil || r.files.Load() < minFiles || s.Grow(int64(r.o.ChunkFile))
}

// want tells the slot for how many chunks there was no room.
func (r *Ring) want(chunks int64) {
	if r.o.Slot != nil {
		r.o.Slot.Want(chunks * int64(r.o.ChunkFile))
	}
}

// obey adopts the session's limit and gives up what another process asked for.
func (r *Ring) obey() error {
	s := r.o.Slot
	if s == nil {
		return nil
	}
	r.limit.Store(s.Limit())
	return s.Obey()
}

// GiveUp discards the released chunks that were done at or before a time, in ns of
// realtime, but keeps two files. Spare chunks are given back in place of the newest
// of them, as the process that asks merely wants room.
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
		r.givenUp.Add(1)
		errs = errors.Join(errs, r.giveBack(c))
	}
	return errors.Join(errs, r.Publish())
}

// GiveSpares gives back spare chunks beyond those that a full session leaves and that were lately taken, up to so many bytes.
func (r *Ring) GiveSpares(bytes int64) (given bool, err error) {
	size := int64(r.o.ChunkFile)
	n := min((bytes+size-1)/size, r.spares.Load()-max(int64(r.o.Pressed), r.lately))
	if n <= 0 {
		return false, nil
	}
	r.pressed.Store(pressedFor)
	return true, errors.Join(r.yield(int(n)), r.Publish())
}

// discardBy discards the oldest released chunk if it was done at or before a time, in
// ns of CLOCK_MONOTONIC. Writers may have taken some meanwhile.
func (r *Ring) discardBy(done uint64) *Chunk {
	r.mu.lock()
	defer r.mu.unlock()
	if c := r.released.first; c == nil || c.done() > done {
		return nil
	}
	return r.discard()
}

// doneBy returns how many released chunks were done at or before a time, in ns of
// realtime, and when the last of them was done, in ns of CLOCK_MONOTONIC.
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

// doneTimes calls f for each released chunk, the newest first, with the time when it
// was done, in ns of realtime, which is never 0. These times are compared between
// processes, and a request for one time covers all earlier ones. So they are in the
// order of the chunks even if the clock was set back meanwhile. r.mu is held.
func (r *Ring) doneTimes(now int64, f func(c *Chunk, done int64)) {
	next := int64(math.MaxInt64)
	for c := r.released.last; c != nil; c = c.links[byDone].prev {
		next = max(1, min(session.Plausible(c.fixed.Close.Realtime, now), next-1))
		f(c, next)
	}
}

// Publish enters in the slot what the ring holds now.
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

// pressedFor is the number of Maintains, some ten seconds, for which a session counts
// as full after it was. Otherwise a process that gave up a spare chunk would make it
// again before another could use the room.
const pressedFor = 100

// ready is how many spare chunks there should be now. While the session is full
// they are few: empty chunks are given up before recorded ones.
func (r *Ring) ready() int64 {
	n := r.pressed.Load()
	if n == 0 {
		return int64(r.o.MinSpare)
	}
	r.pressed.Store(n - 1)
	return int64(r.o.Pressed)
}

// refused notes that the session has no room for that many spare chunks. From the
// next Maintain on fewer are made, and others are asked for room only for those and for
// what is being used up right now. Earlier demand does not count: otherwise processes
// that were busy a moment ago would together take all that others have recorded.
func (r *Ring) refused(spares int) {
	r.pressed.Store(pressedFor)
	spares = min(spares, max(r.o.Pressed, int(r.lately)))
	r.want(max(0, int64(spares)-r.spares.Load()))
}

// clearings is how often a new ring asks for room on a full disk. It takes more than
// once where what the dead left lies in chunks much smaller than its own.
const clearings = 10

// crowded notes whether the disk had room for one more chunk file. If it had not,
// room is asked for as if the session were full.
func (r *Ring) crowded(err error, spares int) {
	if s := r.o.Slot; s != nil && s.Crowded(err) {
		r.refused(spares)
	}
}

// clear makes room for the smallest ring where the disk has none.
func (r *Ring) clear(err error) bool {
	return r.o.Slot != nil && r.o.Slot.ClearDisk(err, minFiles*int64(r.o.ChunkFile))
}
