package shard

import (
	"sync/atomic"

	"gprof/rawformat"
)

const numLosses = int(rawformat.LostTime) + 1

// loss counts what was dropped for one reason.
type loss struct{ count, bytes atomic.Uint64 }

// WriteLosses writes what was lost since its last call. If no shard is free it leaves that
// to the next call; nothing is lost by that.
func (r *Recording) WriteLosses() {
	if !r.hasLost() {
		return
	}
	if s := r.awaitShard(); s != nil {
		r.writeLossesTo(s)
		leave(s)
	}
}

func (r *Recording) hasLost() bool {
	for why := range r.lost {
		if r.lost[why].count.Load() != r.reported[why].count {
			return true
		}
	}
	return false
}

// writeLossesTo is WriteLosses to a shard that is locked and stays so.
func (r *Recording) writeLossesTo(s *shard) {
	for why := range r.lost {
		count := r.lost[why].count.Load()
		bytes := r.lost[why].bytes.Load()
		told := &r.reported[why]
		if count == told.count {
			continue
		}
		now := r.clock.Now()
		if !r.prepare(s, 64, s.current(), now) {
			return
		}
		b := s.time(s.begin(rawformat.KindLost), now)
		for _, v := range [...]uint64{uint64(why), count - told.count, bytes - told.bytes} {
			b = rawformat.AppendUint(b, v)
		}
		s.finish(b)
		told.count, told.bytes = count, bytes
	}
}

// Lose counts something that was dropped. The keeper writes it into the recording when
// there is room.
func (r *Recording) Lose(why rawformat.LostReason, count, bytes uint64) {
	r.lost[why].count.Add(count)
	r.lost[why].bytes.Add(bytes)
}

// Lost is how many things were dropped so far for that reason.
func (r *Recording) Lost(why rawformat.LostReason) uint64 { return r.lost[why].count.Load() }
