package recorder

// Running is the recorder of this process, also while it is paused; nil before
// Start and after Stop. All its methods work on nil.
func Running() *Recorder { return running.Load() }
