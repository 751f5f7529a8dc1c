package shard

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// enter gives the caller a shard until leave, which must follow soon and without blocking.
// nil: all are taken; the loss is counted.
//
// A processor runs one goroutine at a time. A goroutine that is not interrupted between its
// look at the lock of the processor's shard and its store there has the shard for itself,
// at the cost of that store; an exchange would cost as much as everything else but the
// clock. If the goroutine is interrupted afterwards, others find the lock taken and go to a
// shared shard. The keeper wants a shard now and then: it sets shut, makes sure that all
// threads see that, and only then looks whether the lock is taken, see seize.
func (r *Recording) enter() *shard {
	if s, _, _ := takeOwn(r); s != nil {
		raceAcquire(s)
		return s
	}
	return r.enterSlow()
}

// enterSlow is enter after takeOwn found nothing.
//
//go:noinline
func (r *Recording) enterSlow() *shard {
	if r.routeErr != nil && len(r.own) > 0 {
		p := rt.Pin()
		s := r.takeOwnOf(uint(p))
		rt.Unpin()
		if s != nil {
			return s
		}
	}
	return r.enterShared()
}

// takeOwnOf is takeOwn for processor p, to which the caller is pinned. nil: the shard is
// taken or shut, or the program has more processors now than it began with.
func (r *Recording) takeOwnOf(p uint) *shard {
	if p >= uint(len(r.own)) {
		return nil
	}
	s := &r.own[p]
	if atomic.LoadUint32(&s.lock) != 0 {
		return nil
	}
	rt.TakeLock(&s.lock)
	if atomic.LoadUint32(&s.shut) != 0 {
		rt.ReleaseLock(&s.lock)
		return nil
	}
	return s
}

// enterShared enters a shared shard.
func (r *Recording) enterShared() *shard {
	var here byte
	return r.acquire(shardHint(&here))
}

// leave gives a shard back.
func leave(s *shard) { rt.ReleaseLock(&s.lock) }

// acquire locks a shared shard, first of all that of the hint. nil: all are taken; the loss
// is counted.
func (r *Recording) acquire(hint uintptr) *shard {
	if s := &r.shared[hint&r.mask]; s.tryLock() {
		return s
	}
	return r.acquireNext(hint)
}

// tryLock locks a shared shard, unless it is taken or shut.
func (s *shard) tryLock() bool {
	if atomic.SwapUint32(&s.lock, 1) != 0 {
		return false
	}
	if atomic.LoadUint32(&s.shut) != 0 {
		rt.ReleaseLock(&s.lock)
		return false
	}
	return true
}

// acquireNext locks any shared shard after the first choice was taken. It begins with those
// that are never a first choice.
//
//go:noinline
func (r *Recording) acquireNext(hint uintptr) *shard {
	all := uintptr(len(r.shared)) - 1
	for i := range maxPasses * (all + 1) {
		if s := &r.shared[(hint&r.mask+r.mask+1+i)&all]; s.tryLock() {
			return s
		}
	}
	r.Lose(rawformat.LostBusy, 1, 0)
	return nil
}

// shardHint tells goroutines apart by the addresses of their stacks. It may change when a
// stack grows or moves, which does no harm.
func shardHint(onStack *byte) uintptr {
	at := uintptr(unsafe.Pointer(onStack))
	return at>>13 ^ at>>20
}

// awaitShardOrLose is awaitShard, and counts a loss if no shard was free.
func (r *Recording) awaitShardOrLose() *shard {
	s := r.awaitShard()
	if s == nil {
		r.Lose(rawformat.LostBusy, 1, 0)
	}
	return s
}

// awaitShard locks any shared shard, for the recorder's own goroutines, which may wait. It
// tries the last choices of markers first. nil: all stayed taken for about shardPatience.
func (r *Recording) awaitShard() *shard {
	begun := rt.Now()
	defer r.locked(begun)
	for deadline := begun + shardPatience; ; runtime.Gosched() {
		for i := len(r.shared) - 1; i >= 0; i-- {
			if s := &r.shared[i]; s.tryLock() {
				return s
			}
		}
		if rt.Now() > deadline {
			return nil
		}
	}
}

// claim locks a shard for the keeper; reopen gives it back. False: it is taken.
func (r *Recording) claim(s *shard) bool {
	if !s.owned {
		return atomic.SwapUint32(&s.lock, 1) == 0
	}
	if r.seize(s) {
		return true
	}
	atomic.StoreUint32(&s.shut, 0)
	return false
}

// seize is claim, but leaves the shard shut even if it is taken: its holder finishes one
// block and nobody comes after it, so that a later call succeeds soon even where writers
// never rest. reopen opens the shard again.
//
// The writer of a processor's shard and the keeper each store one word and then load the
// other's; at least one of them must see the other. An exchange would order the writer's
// two accesses, at a cost to each marker. The barrier orders them for all writers:
//
//   - A writer that stored its lock before the barrier is seen to have it. It finishes its
//     block, and the keeper tries again.
//   - A writer that stores it afterwards also loads shut afterwards, sees it, and goes
//     elsewhere before it has touched the chunk.
//   - So after a successful seize the last block is committed: its writer committed before it
//     released the lock, and both are loaded in this order. The chunk can be sealed, handed
//     over or unmapped.
//
// One goroutine may be both, as in Stop: it holds no shard then. It is no special case when
// a processor is taken away from a goroutine, or from the program: the goroutine that
// stored the lock keeps it until it goes on, wherever that is.
func (r *Recording) seize(s *shard) bool {
	atomic.StoreUint32(&s.shut, 1)
	if !s.owned {
		return atomic.SwapUint32(&s.lock, 1) == 0
	}
	begun := rt.Now()
	err := rt.Barrier()
	r.locked(begun)
	return err == nil && atomic.LoadUint32(&s.lock) == 0
}

// locked adds the time since begun to what the recorder's own goroutines have spent on taking
// shards.
func (r *Recording) locked(begun rt.Time) { r.locking.Add(int64(rt.Now() - begun)) }

// Locking is that time until now, in ns.
func (r *Recording) Locking() int64 { return r.locking.Load() }

// reopen ends claim and seize: writers may use the shard again.
func reopen(s *shard) {
	atomic.StoreUint32(&s.shut, 0)
	if !s.owned {
		rt.ReleaseLock(&s.lock)
	}
}

// claimForGood takes a shard, waiting for its holder. The wait is measured from begun,
// which all shards share: no writer comes to any shard any more, so once one holder was
// waited for in vain, the others will not go on, either. False: the holder did not finish.
func (r *Recording) claimForGood(s *shard, begun rt.Time) bool {
	for ; !r.seize(s); runtime.Gosched() {
		if waited := rt.Now() - begun; waited > rt.Time(longPatience) || r.failure.Load() != nil && waited > rt.Time(patience) {
			return false
		}
	}
	return true
}

// Hold locks all shards, for tests: markers find none until release is called.
func (r *Recording) Hold() (release func()) {
	var held []*shard
	for i := range r.shards {
		if s := &r.shards[i]; r.claimForGood(s, rt.Now()) {
			held = append(held, s)
		}
	}
	return func() {
		for _, s := range held {
			reopen(s)
		}
	}
}

const (
	// Close waits so long for the holders of shards, all together. After a bug in the
	// recorder (patience) a holder may be gone; otherwise (longPatience) its thread may be
	// stopped or waiting for the disk.

	patience     = 100 * time.Millisecond
	longPatience = 10 * time.Second
)
