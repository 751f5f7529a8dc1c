package shard

import (
	"gprof/recorder/internal/rt"
	"runtime"
	"time"
)

// MakeShards makes shards for so many processors, and twice as many that are
// shared: a goroutine that loses its thread inside one must not cost the markers of
// others. A program may get more processors later: up to so many shards in all,
// those have a shard of their own, too. None takes a chunk before it is used.
func (r *Recording) MakeShards(writers, most int) {
	own := 0
	if r.unowned = r.exposed; r.unowned == nil {
		r.unowned = rt.RegisterBarrier()
	}
	if r.unowned == nil {
		own = max(writers, min(most, MaxChoices)-2*writers)
	}
	r.shards = make([]shard, own+2*writers)
	r.own, r.shared = r.shards[:own], r.shards[own:]
	r.mask = uintptr(writers - 1)
	for i := range r.shards {
		s := &r.shards[i]
		s.writer, s.generation, s.page, s.owned = uint16(i), 1, noPage, i < len(r.own)
	}
}

// Close takes all shards for good: a marker that is still on its way finds
// them busy. No mapping may go before. What was lost until now is written last.
// The chunk of a shard whose holder does not finish stays mapped, see [ring.ErrInUse].
func (r *Recording) Close() {
	var locked []*shard
	begun := rt.Now()
	for i := range r.shards {
		if s := &r.shards[i]; r.claimFinally(s, begun) {
			locked = append(locked, s)
		}
	}
	if n := len(locked); n > 0 {
		r.writeLossesTo(locked[n-1]) // our own blocks' first choice: it has a chunk
	}
	for _, s := range locked {
		r.retire(s)
	}
}

const (
	// MaxChoices bounds the shared shards that are a first choice: more processors
	// than that share them.
	MaxChoices = 64

	// Close waits so long for the holders of shards, all together: after a bug of the
	// recorder one may be gone; else its thread may not run, because it is stopped or
	// waits for the disk.

	patience     = 100 * time.Millisecond
	longPatience = 10 * time.Second
)

// claimFinally takes a shard, for which it waits since begun: nobody comes to any
// shard any more, so that who still has one when another's holder was waited for in
// vain does not go on either. False: its holder does not come to an end.
func (r *Recording) claimFinally(s *shard, begun rt.Time) bool {
	for ; !r.seize(s); runtime.Gosched() {
		if waited := rt.Now() - begun; waited > rt.Time(longPatience) || r.failure.Load() != nil && waited > rt.Time(patience) {
			return false
		}
	}
	return true
}
