package recorder

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

// Pause stops recording until Resume. Markers cost as little as without a
// recorder meanwhile. Those of other goroutines that are on their way may still
// be recorded.
//
// The session may be paused as well, by gprof-record: one does not take back
// what the other asked for.
func (r *Recorder) Pause() { r.ask(pausedByProgram, true) }

// Resume goes on after Pause, unless the session is paused.
func (r *Recorder) Resume() { r.ask(pausedByProgram, false) }

func (r *Recorder) ask(who pausers, paused bool) {
	if r == nil {
		return
	}
	r.switching.Lock()
	defer r.switching.Unlock()
	r.rec.Contain(func() { r.setPaused(who, paused) }) // Err tells
}

// setPaused notes what who asks for, and does what follows. r.switching is
// held.
func (k *keeper) setPaused(who pausers, paused bool) {
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

// PauseSampling stops CPU samples until ResumeSampling; markers and counters go on.
// It is apart from Pause: samples are taken when neither is in force.
func (r *Recorder) PauseSampling() { r.askSampling(true) }

// ResumeSampling goes on after PauseSampling.
func (r *Recorder) ResumeSampling() { r.askSampling(false) }

func (r *Recorder) askSampling(paused bool) {
	if r == nil {
		return
	}
	r.switching.Lock()
	defer r.switching.Unlock()
	if r.stopped || r.rec.Failure() != nil || r.unsampled.Swap(paused) == paused {
		return
	}
	r.shiftSampler()
	kind := rawformat.KindResume
	if paused {
		kind = rawformat.KindPause
	}
	r.rec.Contain(func() { r.entry(kind, uint64(rawformat.PauseSampling)) }) // Err tells
}

// samples reports whether CPU samples are to be taken.
func (k *keeper) samples() bool { return !k.paused.Load() && !k.unsampled.Load() }

// shiftSampler has the CPU sampler look whether it should sample.
func (k *keeper) shiftSampler() {
	select {
	case k.shift <- struct{}{}:
	default: // it has not seen the last one yet, and looks when it does
	}
}

// beginPaused pauses from the start if the session is paused or stopped. The
// keeper does the rest.
func (k *keeper) beginPaused() {
	switch k.member.told() {
	case rawformat.CommandPause, rawformat.CommandStop:
		k.setPaused(pausedBySession, true)
	}
}

// obey does what the session's processes are told, and reports whether it is
// done; if not, the keeper comes again. Stop may be waiting for the
// keeper, and Pause is quick: neither is waited for.
func (k *keeper) obey(c rawformat.Command) bool {
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
func (k *keeper) rest() bool {
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
func (k *keeper) wakeRing() {
	if k.resting {
		k.resting = false
		k.ring.Rest(false)
		k.maintainRing()
	}
}
