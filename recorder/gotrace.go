package recorder

import (
	"path/filepath"
	"time"

	"gprof/recorder/internal/keeper"
)

// Errors of [Recorder.Trace]; see there for others.
var (
	ErrTracing = keeper.ErrTracing // another window of the execution trace is being taken
	ErrNoTrace = keeper.ErrNoTrace // execution traces are switched off by Options.Features or Options.Without
)

// Trace takes a window of Go's execution trace (see runtime/trace): what
// [Options.TraceBehind] keeps of the past, and what happens from now on for the time ahead,
// for which it waits. It returns the path of a file beside the recording, which go tool
// trace reads. A marker "go trace" refers to the file; it counts against the session's
// limit, and is copied or packed along with the recording. All windows together take at
// most a quarter of what this process may hold; the oldest is removed first.
//
// The window is taken by the runtime's flight recorder; if the program runs one of its own,
// the error is the runtime's. The program's trace.Start and /debug/pprof/trace work
// meanwhile. Tracing costs some percent of a busy program.
//
// The error is [ErrStopped], also while recording is paused; [ErrTracing]; [ErrNoTrace];
// [rawformat.ErrTooBig] if there is no room for the window; else the runtime's or the
// disk's. Then nothing is left behind.
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
