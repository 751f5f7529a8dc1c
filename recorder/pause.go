package recorder

// Pause stops recording until Resume. Markers cost as little as without a
// recorder meanwhile. Those of other goroutines that are on their way may still
// be recorded.
//
// The session may be paused as well, by gprof-record: one does not take back
// what the other asked for.
func (r *Recorder) Pause() {
	if r != nil {
		r.keeper.Pause(true)
	}
}

// Resume goes on after Pause, unless the session is paused.
func (r *Recorder) Resume() {
	if r != nil {
		r.keeper.Pause(false)
	}
}

// PauseSampling stops CPU samples until ResumeSampling; markers and counters go on.
// It is apart from Pause: samples are taken when neither is in force.
func (r *Recorder) PauseSampling() {
	if r != nil {
		r.keeper.PauseSampling(true)
	}
}

// ResumeSampling goes on after PauseSampling.
func (r *Recorder) ResumeSampling() {
	if r != nil {
		r.keeper.PauseSampling(false)
	}
}
