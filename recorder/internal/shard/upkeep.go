package shard

import (
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// ReleaseIdle takes chunks away from writers that have been idle while others filled so
// many bytes: else the oldest data could never be discarded. Where a writer has found no
// chunk in a session that leaves this process few, idle writers may have them all: so
// many is none then.
func (r *Recording) ReleaseIdle(most uint64) {
	end := r.ring.RangeEnd()
	if r.starving.Swap(false) && r.ring.Starved() {
		most = 0
	}
	for i := range r.shards {
		s := &r.shards[i]
		if !r.lags(s, end, most) || !r.claim(s) {
			continue
		}
		if r.lags(s, end, most) {
			r.retire(s)
		}
		disclaim(s)
	}
}

// lags reports whether so much more than most was handed out since the shard got
// its chunk.
func (r *Recording) lags(s *shard, end, most uint64) bool {
	start := s.lag.Load()
	return start != 0 && s.generation == r.generation && // else it is about to be turned
		end-start > most
}

// IsIdle reports whether no shard has a chunk.
func (r *Recording) IsIdle() bool {
	for i := range r.shards {
		if r.shards[i].lag.Load() != 0 {
			return false
		}
	}
	return true
}

// DropCut retires chunks whose files were cut short, and returns how many. It is not
// done as long as a writer is at work that may have one.
func (r *Recording) DropCut() (found int, done bool) {
	done = true
	for i := range r.shards {
		s := &r.shards[i]
		if s.lag.Load() == 0 {
			continue
		}
		if !r.claim(s) {
			done = false
			continue
		}
		if s.chunk != nil && s.chunk.LostBytes() > 0 {
			r.Lose(rawformat.LostCut, 1, uint64(s.chunk.LostBytes()))
			r.retire(s)
			found++
		}
		disclaim(s)
	}
	return found, done
}

// WriteAnchor ties the clocks together, for readers that interpolate. They look
// for it in the last shard's chunks, see [rawformat.FlagAnchors]; if that is taken,
// the next one will do.
func (r *Recording) WriteAnchor() {
	r.clock.Note()
	s := &r.shards[len(r.shards)-1]
	if s.generation != r.generation || !r.claim(s) {
		return
	}
	a := r.clock.Anchor()
	b := Block{Kind: rawformat.KindAnchor, Time: r.clock.Now(), Fields: []uint64{a.TSC, a.Monotonic, rawformat.Zigzag(a.Realtime), rt.Boottime()}}
	if r.turn(s, b.size(), who{}, b.Time) {
		s.block(&b)
		leave(s)
	}
}

// AnchorWriter is the number of the writer of anchors.
func (r *Recording) AnchorWriter() uint16 { return r.shards[len(r.shards)-1].writer }

// Choices is how many shared shards are somebody's first choice.
func (r *Recording) Choices() int { return int(r.mask) + 1 }

// BeginGeneration has stacks looked up in another dictionary from now on, and chunks
// name it that are opened later. TurnWriters must follow. Who has found a stack's id
// before knows its generation.
func (r *Recording) BeginGeneration(n uint16) {
	r.generation = n
	r.known.forget(n)
}

// TurnWriters closes the chunks of the writers that name an older generation, and
// reports whether none is left. One that is at work, perhaps without its thread, is not
// waited for: it stays shut, and is turned by a later call. The block that it writes knows
// nothing that is defined from now on.
func (r *Recording) TurnWriters() (all bool) {
	all = true
	for i := range r.shards {
		s := &r.shards[i]
		if s.generation == r.generation {
			continue
		}
		if !r.seize(s) {
			all = false
			continue
		}
		r.retire(s)
		s.generation = r.generation
		disclaim(s)
	}
	return all
}
