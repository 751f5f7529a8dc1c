package keeper

import (
	"gprof/rawformat"
	"gprof/recorder/internal/shard"
)

// pausers are those who ask to pause. Recording goes on when none does.
type pausers uint8

const (
	pausedByProgram pausers = 1 << iota
	pausedBySession
)

// Pause asks to pause, or no longer to, as the program.
func (k *Keeper) Pause(paused bool) {
	k.switching.Lock()
	defer k.switching.Unlock()
	k.rec.Contain(func() { k.setPaused(pausedByProgram, paused) }) // its Failure tells
}

// setPaused notes what who asks for, and does what follows. r.switching is
// held.
func (k *Keeper) setPaused(who pausers, paused bool) {
	before := k.pausers
	if k.pausers |= who; !paused {
		k.pausers &^= who
	}
	if k.stopped || k.rec.Failure() != nil || (before == 0) == (k.pausers == 0) {
		return
	}
	k.paused.Store(k.pausers != 0)
	k.shiftSampler()
	if k.pausers != 0 {
		shard.Current.Store(nil)
		k.entry(rawformat.KindPause, uint64(rawformat.PauseAll))
		return
	}
	k.entry(rawformat.KindResume, uint64(rawformat.PauseAll))
	k.rec.Admit()
	if k.rec.Failure() != nil { // it failed meanwhile, and what fail cleared is set again
		shard.Current.CompareAndSwap(k.rec, nil)
	}
}

// PauseSampling stops CPU samples, or goes on with them.
func (k *Keeper) PauseSampling(paused bool) {
	k.switching.Lock()
	defer k.switching.Unlock()
	if k.stopped || k.rec.Failure() != nil || k.unsampled.Swap(paused) == paused {
		return
	}
	k.shiftSampler()
	kind := rawformat.KindResume
	if paused {
		kind = rawformat.KindPause
	}
	k.rec.Contain(func() { k.entry(kind, uint64(rawformat.PauseSampling)) }) // its Failure tells
}

// IsActive reports whether something is recorded, be it markers or other things.
func (k *Keeper) IsActive() bool {
	return k.running.Load() && !k.paused.Load() && k.rec.Failure() == nil
}

// samples reports whether CPU samples are to be taken.
func (k *Keeper) samples() bool { return !k.paused.Load() && !k.unsampled.Load() }

// shiftSampler has the CPU sampler look whether it should sample.
func (k *Keeper) shiftSampler() {
	select {
	case k.shift <- struct{}{}:
	default: // it has not seen the last one yet, and looks when it does
	}
}

// beginPaused pauses from the start if the session is paused or stopped. The
// keeper does the rest.
func (k *Keeper) beginPaused() {
	switch k.member.told() {
	case rawformat.CommandPause, rawformat.CommandStop:
		k.setPaused(pausedBySession, true)
	}
}

// obey does what the session's processes are told, and reports whether it is
// done; if not, the keeper comes again. Stop may be waiting for the
// keeper, and Pause is quick: neither is waited for.
func (k *Keeper) obey(c rawformat.Command) bool {
	if !k.switching.TryLock() {
		return false
	}
	defer k.switching.Unlock()
	switch c {
	case rawformat.CommandStop:
		k.setPaused(pausedBySession, true)
		return k.rest()
	case rawformat.CommandPause:
		k.wakeRing()
		k.setPaused(pausedBySession, true)
	default:
		k.wakeRing()
		k.setPaused(pausedBySession, false)
	}
	return true
}

// rest closes and seals all chunks and gives the spare ones back. It reports
// false while a writer is at work, such as the CPU sampler, whose last samples
// would otherwise take the place of older ones.
func (k *Keeper) rest() bool {
	if k.sampling.Load() {
		return false
	}
	k.sampler.Rest(k.isMapped())
	if !k.resting {
		k.rec.WriteLosses() // later an older chunk would have to go for them
	}
	k.resting = true
	k.ring.Rest(true)
	k.releaseIdle()
	k.maintainRing()
	return k.rec.IsIdle()
}

// wakeRing makes chunks ready after rest, before anybody asks for one.
func (k *Keeper) wakeRing() {
	if k.resting {
		k.resting = false
		k.ring.Rest(false)
		k.maintainRing()
	}
}
