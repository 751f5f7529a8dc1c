package profile

import (
	"bytes"
	"compress/gzip"
	"io"
	"runtime/pprof"
	"sync"
	"time"

	"gprof/recorder/internal/rt"
)

// Length is how long a window should be: a second, less what makes its end meet one of
// the rounds of 100 ms in which the runtime collects samples. StopCPUProfile waits for
// the next round, in which nothing is sampled.
const Length = 990 * time.Millisecond

// Interval is how much CPU time lies between two samples of runtime/pprof.
const Interval = 10 * time.Millisecond

// Window is a CPU profile that is being taken. A process has one at a time, and any code in it may end it. If the runtime has
// completed the profile, somebody else has ended it, and StopCPUProfile would end a profile that was started since.
type Window struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	ended rt.Time // of the last write
}

// Write is for the runtime.
func (w *Window) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = rt.Now()
	return w.buf.Write(b)
}

// Start begins a profile. The one before must be stopped.
func (w *Window) Start() error {
	w.buf.Reset()
	return pprof.StartCPUProfile(w)
}

// Stop ends the profile, unless it was ended already, and returns it gzipped, with the
// time at which sampling ended. The bytes are valid until the next Start.
func (w *Window) Stop() (gzipped []byte, end rt.Time) {
	if b, ended := w.written(); complete(b) {
		return b, ended
	}
	end = rt.Now()
	pprof.StopCPUProfile()
	b, _ := w.written()
	return b, end
}

func (w *Window) written() ([]byte, rt.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Bytes(), w.ended
}

// complete reports whether a gzip stream has its end.
func complete(gzipped []byte) bool {
	z, err := gzip.NewReader(bytes.NewReader(gzipped))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, z)
	return err == nil
}
