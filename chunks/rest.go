package chunks

import (
	"errors"
	"slices"
)

// Rest says that nothing will be written for a while, or, with false, that it
// will again. While the ring rests Maintain gives the spare chunks back and
// makes none; what was written stays. A Get is served all the same, from what
// was released.
func (r *Ring) Rest(resting bool) { r.resting.Store(resting) }

// yield gives that many spare chunks back. They were never used: nothing is
// lost.
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
