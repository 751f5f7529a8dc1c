package recorder

import "gprof/rawformat"

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
	r.contain(func() { r.setPaused(who, paused) }) // Err tells
}

// setPaused notes what who asks for, and does what follows. r.switching is
// held.
func (r *Recorder) setPaused(who pausers, paused bool) {
	before := r.pausers
	if r.pausers |= who; !paused {
		r.pausers &^= who
	}
	if r.stopped || r.Err() != nil || (before == 0) == (r.pausers == 0) {
		return
	}
	r.paused.Store(r.pausers != 0)
	r.shiftSampler()
	if r.pausers != 0 {
		recording.Store(nil)
		r.entry(rawformat.KindPause, r.clock.now(), uint64(rawformat.PauseAll))
		return
	}
	r.entry(rawformat.KindResume, r.clock.now(), uint64(rawformat.PauseAll))
	r.admit()
	if r.Err() != nil { // it failed meanwhile, and what fail cleared is set again
		recording.CompareAndSwap(r, nil)
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
	if r.stopped || r.Err() != nil || r.unsampled.Swap(paused) == paused {
		return
	}
	r.shiftSampler()
	kind := rawformat.KindResume
	if paused {
		kind = rawformat.KindPause
	}
	r.contain(func() { r.entry(kind, r.clock.now(), uint64(rawformat.PauseSampling)) }) // Err tells
}

// samples reports whether CPU samples are to be taken.
func (r *Recorder) samples() bool { return !r.paused.Load() && !r.unsampled.Load() }

// shiftSampler has the CPU sampler look whether it should sample.
func (r *Recorder) shiftSampler() {
	select {
	case r.shift <- struct{}{}:
	default: // it has not seen the last one yet, and looks when it does
	}
}

// beginPaused pauses from the start if the session is paused or stopped. The
// housekeeper does the rest.
func (r *Recorder) beginPaused() {
	switch r.member.told() {
	case rawformat.CommandPause, rawformat.CommandStop:
		r.setPaused(pausedBySession, true)
	}
}

// obey does what the session's processes are told, and reports whether it is
// done; if not, the housekeeper comes again. Stop may be waiting for the
// housekeeper, and Pause is quick: neither is waited for.
func (r *Recorder) obey(c rawformat.Command) bool {
	if !r.switching.TryLock() {
		return false
	}
	defer r.switching.Unlock()
	switch c {
	case rawformat.CommandStop:
		r.setPaused(pausedBySession, true)
		return r.rest()
	case rawformat.CommandPause:
		r.wakeRing()
		r.setPaused(pausedBySession, true)
	default:
		r.wakeRing()
		r.setPaused(pausedBySession, false)
	}
	return true
}

// rest closes and seals all chunks and gives the spare ones back. It reports
// false while a writer is at work, such as the CPU sampler, whose last samples
// would otherwise take the place of older ones.
func (r *Recorder) rest() bool {
	if r.sampling.Load() {
		return false
	}
	r.sampler.rest(r)
	if !r.resting {
		r.writeLosses() // later an older chunk would have to go for them
	}
	r.resting = true
	r.ring.Rest(true)
	r.releaseLaggards()
	r.maintainRing()
	for i := range r.shards {
		if r.shards[i].lag.Load() != 0 {
			return false
		}
	}
	return true
}

// wakeRing makes chunks ready after rest, before anybody asks for one.
func (r *Recorder) wakeRing() {
	if r.resting {
		r.resting = false
		r.ring.Rest(false)
		r.maintainRing()
	}
}
