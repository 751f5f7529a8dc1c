package shard

import (
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// ReleaseIdle takes chunks away from writers that were idle while others filled more than
// most bytes; otherwise the oldest data could never be discarded. If a writer found no
// chunk, in a session that leaves this process few, most is taken to be 0: all idle writers
// lose theirs.
func (r *Recording) ReleaseIdle(most uint64) {
	end := r.ring.RangeEnd()
	if r.starving.Swap(false) && r.ring.Starved() {
		most = 0
	}
	for i := range r.shards {
		s := &r.shards[i]
		if !r.lagsBehind(s, end, most) || !r.claim(s) {
			continue
		}
		if r.lagsBehind(s, end, most) {
			r.retire(s)
		}
		reopen(s)
	}
}

// lagsBehind reports whether more than most bytes were handed out since the shard got its
// chunk.
func (r *Recording) lagsBehind(s *shard, end, most uint64) bool {
	start := s.chunkStart.Load()
	return start != 0 && s.generation == r.generation && // otherwise SwitchWriters retires its chunk
		end-start > most
}

// IsIdle reports whether no shard has a chunk.
func (r *Recording) IsIdle() bool {
	for i := range r.shards {
		if r.shards[i].chunkStart.Load() != 0 {
			return false
		}
	}
	return true
}

// DropCut retires chunks whose files were cut short, and returns how many. It is not done
// while a writer is at work that may have such a chunk.
func (r *Recording) DropCut() (found int, done bool) {
	done = true
	for i := range r.shards {
		s := &r.shards[i]
		if s.chunkStart.Load() == 0 {
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
		reopen(s)
	}
	return found, done
}

// WriteAnchor ties the clocks together, for readers that interpolate. They look for anchors
// in the last shard's chunks, see [rawformat.FlagAnchors]; if that shard is taken, the
// anchor is left out, and the next one will do.
func (r *Recording) WriteAnchor() {
	r.clock.Note()
	s := &r.shards[len(r.shards)-1]
	if s.generation != r.generation || !r.claim(s) {
		return
	}
	a := r.clock.Anchor()
	b := Block{Kind: rawformat.KindAnchor, Time: r.clock.Now(), Fields: []uint64{a.TSC, a.Monotonic, rawformat.Zigzag(a.Realtime), rt.Boottime()}}
	if s = r.ready(s, b.size(), context{}, b.Time); s != nil {
		s.block(&b)
		leave(s)
	}
}

// AnchorWriter is the number of the writer of anchors.
func (r *Recording) AnchorWriter() uint16 { return r.shards[len(r.shards)-1].writer }

// Choices is how many of the shared shards are a first choice.
func (r *Recording) Choices() int { return int(r.mask) + 1 }

// BeginGeneration has stacks looked up in another dictionary from now on, and has new
// chunks name that. Call SwitchWriters next. A marker that looked up its stack before knows
// the generation of the id.
func (r *Recording) BeginGeneration(n uint16) {
	r.generation = n
	r.known.forget(n)
}

// SwitchWriters closes the chunks of writers that name an older generation, and reports
// whether none is left. It does not wait for a writer that is at work, perhaps without its
// thread: that shard stays shut until a later call closes its chunk. The block that is
// being written there refers to nothing that is defined from now on.
func (r *Recording) SwitchWriters() (all bool) {
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
		reopen(s)
	}
	return all
}
