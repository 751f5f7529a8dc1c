package recorder

// Pause stops recording until Resume. Meanwhile a marker costs as little as without a
// recorder. Markers that other goroutines have already begun may still be recorded.
//
// gprof-record may pause the session as well. Recording goes on when neither pause is in
// force.
func (r *Recorder) Pause() {
	if r != nil {
		r.keeper.Pause(true)
	}
}

// Resume ends Pause. Recording goes on unless the session is paused.
func (r *Recorder) Resume() {
	if r != nil {
		r.keeper.Pause(false)
	}
}

// PauseSampling stops CPU samples until ResumeSampling; markers and counters go on. It is
// independent of Pause: samples are taken when neither is in force.
func (r *Recorder) PauseSampling() {
	if r != nil {
		r.keeper.PauseSampling(true)
	}
}

// ResumeSampling ends PauseSampling.
func (r *Recorder) ResumeSampling() {
	if r != nil {
		r.keeper.PauseSampling(false)
	}
}

// SampleWall makes that many rounds over all goroutines in a second from now on, see
// [Options.WallHz]; 0 makes none. Without [FeatureWaits] in Options it does the same.
func (r *Recorder) SampleWall(hz int) {
	if r != nil {
		r.keeper.SetWall(hz)
	}
}
