package ring

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gprof/chunks"
	"gprof/rawformat"
)

// Maintain does what writers must not do. It makes spare chunks: MinSpare of them, or
// Pressed while the session is full, or twice as many as were lately taken between two
// calls. It seals, and it keeps the ring under its limit. Spare chunks come first,
// because the rest takes longer the more was written. One goroutine calls it, now and
// then and when the ring is Low. Errors are the disk's; the ring goes on with what it
// has.
func (r *Ring) Maintain() error {
	r.lately = 2 * r.taken.Swap(0)
	r.demand = max(r.lately, r.demand*7/8)
	err := r.readyLater()
	if !r.resting.Load() {
		err = errors.Join(err, r.grow(int(max(r.ready(), r.demand)), true))
	}
	err = errors.Join(err, r.sealAll(), r.bury(), r.obey(), r.clearCut(), r.shrink())
	if r.resting.Load() {
		r.want(0)
		err = errors.Join(err, r.yield(math.MaxInt))
	}
	return errors.Join(err, r.Publish())
}

// readyLater makes the chunks ready that Open made, as soon as the program goes on.
func (r *Ring) readyLater() (errs error) {
	r.later = slices.DeleteFunc(r.later, func(c *Chunk) bool {
		err := c.mapping.FaultIn()
		errs = errors.Join(errs, err)
		return err == nil
	})
	return errs
}

// shrink gives chunks back while the limit is exceeded, but keeps two.
func (r *Ring) shrink() error {
	for r.files.Load() > minFiles && !r.fits(r.files.Load()) {
		r.mu.lock()
		c := r.take()
		r.mu.unlock()
		if c == nil {
			return nil
		}
		if err := r.giveBack(c); err != nil {
			return err
		}
	}
	return nil
}

// clearCut gives back the chunks whose files were found cut short.
func (r *Ring) clearCut() (err error) {
	for {
		r.mu.lock()
		c := r.cut.pop()
		r.mu.unlock()
		if c == nil {
			return err
		}
		err = errors.Join(err, r.giveBack(c))
	}
}

// giveBack ends the use of a chunk that is in no list. The next header that is
// written, in another file, will say that it was discarded. Until then its own head
// has to say so, and is charged.
func (r *Ring) giveBack(c *Chunk) error {
	r.files.Add(-1)
	r.chunks = slices.DeleteFunc(r.chunks, func(x *Chunk) bool { return x == c })
	c.clearEpoch()
	r.retired = append(r.retired, freeFile{c.ring.name, r.Discarded()})
	r.charged.Add(rawformat.HeadSize)
	return errors.Join(c.unmap(), r.in.Truncate(c.ring.name, rawformat.HeadSize)) // the head still says what was there
}

// freeFile is a file that was given back: its name, and how many chunks were
// discarded with it.
type freeFile struct {
	name      string
	discarded uint32
}

// bury removes the files that were given back, once a header accounts for them. If
// none was written since, meta has to.
func (r *Ring) bury() (err error) {
	if len(r.retired) == 0 {
		return nil
	}
	start := r.RangeStart() // read first: a discard from now on may raise it
	stated, discarded := r.stated.Load(), r.Discarded()
	if stated < discarded && chunks.NoteRange(r.in, start, discarded) == nil {
		stated = discarded
	}
	r.retired = slices.DeleteFunc(r.retired, func(x freeFile) bool {
		if x.discarded > stated {
			return false
		}
		err = errors.Join(err, r.in.Remove(x.name))
		r.charged.Add(-rawformat.HeadSize)
		return true
	})
	return err
}

// grow makes spare chunks until there are so many, within the limit. If they are to be ready, they are faulted in.
func (r *Ring) grow(spares int, ready bool) error {
	r.want(0)
	for r.spares.Load() < int64(spares) && r.fits(r.files.Load()+1) {
		if !r.admitted() {
			r.refused(spares)
			return nil
		}
		name := chunks.ChunkFile.FileName(uint32(r.serial))
		mapFile := r.in.Map
		if !ready && r.files.Load() >= int64(r.o.Reserved) {
			mapFile = r.in.MapSoon
		}
		c, err := makeChunk(mapFile, name, r.o.ChunkFile)
		r.full.Store(err != nil)
		r.crowded(err, spares)
		if err != nil {
			return err
		}
		if ready {
			c.mapping.FaultIn() // its space is reserved
		}
		r.serial++
		r.chunks = append(r.chunks, c)
		r.files.Add(1)
		r.mu.lock()
		r.spare.append(c)
		r.spares.Add(1)
		r.mu.unlock()
	}
	r.full.Store(false)
	return nil
}

// Close seals and unmaps all chunks and removes the files that were never used. No
// writer may be active. Chunks that are in use stay mapped, because their writer may
// still store to them; the error is then [ErrInUse].
func (r *Ring) Close() error {
	r.mu.lock()
	r.drain()
	r.spare, r.released = list{which: byDone}, list{which: byDone}
	r.spares.Store(0)
	r.mu.unlock()
	err := errors.Join(r.sealAll(), r.clearCut(), r.bury())
	if r.o.Slot != nil {
		r.o.Slot.Bind(nil)
	}
	var open []*Chunk
	for _, c := range r.chunks {
		switch c.ring.phase.Load() {
		case phaseOpening, phaseOpen:
			open = append(open, c)
		case phaseSpare:
			err = errors.Join(err, c.unmap(), r.in.Remove(c.ring.name))
		case phaseReleased, phaseSealed:
			err = errors.Join(err, c.unmap())
		}
	}
	if r.chunks = open; len(open) > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %d", ErrInUse, len(open)))
	}
	return err
}

// Rest says that nothing will be written for a while or, with false, that writing
// resumes. While the ring rests, Maintain gives the spare chunks back and makes none;
// what was written stays. Get is still served, from released chunks.
func (r *Ring) Rest(resting bool) { r.resting.Store(resting) }

// yield gives that many spare chunks back. They were never used, so nothing is lost.
func (r *Ring) yield(spares int) (errs error) {
	for range spares {
		r.mu.lock()
		c := r.spare.pop()
		r.mu.unlock()
		if c == nil {
			break
		}
		r.spares.Add(-1)
		r.files.Add(-1)
		r.chunks = slices.DeleteFunc(r.chunks, func(x *Chunk) bool { return x == c })
		errs = errors.Join(errs, c.unmap(), r.in.Remove(c.ring.name))
	}
	return errs
}
