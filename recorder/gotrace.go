package recorder

import (
	"path/filepath"
	"time"

	"gprof/recorder/internal/keeper"
)

// Errors of [Recorder.Trace].
var (
	ErrTracing = keeper.ErrTracing // a window of the execution trace is being taken
	ErrNoTrace = keeper.ErrNoTrace // execution traces are switched off by Options.Features or Options.Without
)

// Trace takes a window of Go's execution trace (see runtime/trace): what happens
// from now on for so long, for which it waits, and what [Options.TraceBehind] keeps
// of the time before. It lies beside the recording, as a file of that path that go
// tool trace reads, is referred to by a marker "go trace", counts against the
// session's limit, and goes along where the recording is packed or copied. All
// windows together take at most a quarter of what this process may hold: the oldest one goes first.
//
// The runtime's flight recorder takes it: while there is one of the program's own,
// the error is the runtime's. The program's trace.Start and /debug/pprof/trace go on
// meanwhile. Tracing costs some percent of a busy program.
//
// The error is [ErrStopped], also while recording is paused, [ErrTracing] if a
// window is being taken, [ErrNoTrace], [rawformat.ErrTooBig] if the window has no
// room, else the disk's. Then nothing is left behind.
func (r *Recorder) Trace(ahead time.Duration) (path string, err error) {
	if r == nil {
		return "", ErrStopped
	}
	name, err := r.keeper.Trace(ahead)
	if err != nil {
		return "", err
	}
	return filepath.Join(r.dir, name), nil
}
