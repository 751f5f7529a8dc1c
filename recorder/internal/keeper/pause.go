package keeper

import (
	"gprof/rawformat"
	"gprof/recorder/internal/shard"
)

// pausers are those who ask to pause. Recording goes on when nobody does.
type pausers uint8

const (
	pausedByProgram pausers = 1 << iota
	pausedBySession
)

// Pause pauses recording for the program, or ends that pause.
func (k *Keeper) Pause(paused bool) {
	k.switching.Lock()
	defer k.switching.Unlock()
	k.rec.Contain(func() { k.setPaused(pausedByProgram, paused) }) // Failure has the error
}

// setPaused notes what one of the pausers asks for, and pauses or resumes if that changes
// anything. k.switching is held.
func (k *Keeper) setPaused(who pausers, paused bool) {
	before := k.pausers
	if k.pausers |= who; !paused {
		k.pausers &^= who
	}
	if k.stopped || k.rec.Failure() != nil || (before == 0) == (k.pausers == 0) {
		return
	}
	k.paused.Store(k.pausers != 0)
	k.notifySampler()
	if k.pausers != 0 {
		shard.Current.Store(nil)
		k.entry(rawformat.KindPause, uint64(rawformat.PauseAll))
		return
	}
	k.entry(rawformat.KindResume, uint64(rawformat.PauseAll))
	k.rec.Admit()
	if k.rec.Failure() != nil { // it failed meanwhile: Admit has set again what fail had cleared
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
	k.notifySampler()
	kind := rawformat.KindResume
	if paused {
		kind = rawformat.KindPause
	}
	k.rec.Contain(func() { k.entry(kind, uint64(rawformat.PauseSampling)) }) // Failure has the error
}

// IsActive reports whether anything is recorded, be it markers or other data.
func (k *Keeper) IsActive() bool {
	return k.running.Load() && !k.paused.Load() && k.rec.Failure() == nil
}

// samples reports whether CPU samples are to be taken.
func (k *Keeper) samples() bool { return !k.paused.Load() && !k.unsampled.Load() }

// notifySampler has sampleCPU look whether it should sample.
func (k *Keeper) notifySampler() {
	select {
	case k.pauseChanged <- struct{}{}:
	default: // the last notice is still to be read, and sampleCPU looks when it reads that
	}
}

// beginPaused begins with a pause if the session is paused or stopped. The keeper does the
// rest.
func (k *Keeper) beginPaused() {
	switch k.member.command() {
	case rawformat.CommandPause, rawformat.CommandStop:
		k.setPaused(pausedBySession, true)
	}
}

// obey carries out the session's command, and reports whether that is done; if not, the
// keeper tries again. It does not wait for the lock: Stop may hold it while it waits for
// the keeper, and Pause holds it only briefly.
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

// rest closes and seals all chunks and gives the spare ones back. It returns false while a
// writer is at work, such as sampleCPU or what learns modules, whose last entries would otherwise displace
// older ones.
func (k *Keeper) rest() bool {
	if k.sampling.Load() || !k.isMapped() || k.learning.Load() {
		return false
	}
	k.sampler.Rest(true)
	if !k.resting {
		k.rec.WriteLosses() // later an older chunk would have to make room for them
	}
	k.resting = true
	k.ring.Rest(true)
	k.releaseIdle()
	k.maintainRing()
	return k.rec.IsIdle()
}

// wakeRing prepares chunks after rest, before a writer asks for one.
func (k *Keeper) wakeRing() {
	if k.resting {
		k.resting = false
		k.ring.Rest(false)
		k.maintainRing()
	}
}
