package keeper

import (
	"fmt"
	"io"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"

	"gprof/chunks"
	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

const (
	// All windows may take 1/traceShare of the limit, and each 1/windowShare, so that
	// there are two before the oldest is removed.
	traceShare  = 4
	windowShare = 2 * traceShare

	// smallestWindow is the size of one second of a program that does little.
	smallestWindow = 64 << 10
)

var goTrace = shard.Handle{Event: registry.Defined.Event(&registry.EventSpec{Name: "go trace", Category: [3]string{"Profiler", "grey"}, Display: rawformat.ShowChart | rawformat.ShowTable,
	Tooltip: "Go's execution trace of this time lies in a file beside the recording",
	Fields:  []registry.FieldSpec{textField("file"), numberField("size", rawformat.WireSint, rawformat.FormatBytes)}})}

// tracer takes windows of Go's execution trace. It uses the runtime's flight recorder,
// because the program's own trace.Start works beside that.
type tracer struct {
	mu       sync.Mutex   // held while a window is taken
	share    atomic.Int64 // how many bytes this process may hold
	allowed  bool
	behind   time.Duration         // how much of the past is kept all the time; 0: nothing
	flight   *trace.FlightRecorder // keeps it; nil: none
	begun    rt.Time               // when flight was started
	why      error                 // why there is no flight, though it was asked for
	ended    bool
	next     int
	kept     []chunks.Trace // the oldest first
	occupied int64          // bytes of kept
}

// open starts the flight recorder if the past is to be kept. If that fails the recording
// does without, and meta has the error.
func (t *tracer) open(c *Config, limit int64) {
	t.allowed, t.behind = c.Traceable, c.TraceBehind
	t.share.Store(limit)
	if t.behind > 0 {
		t.flight, t.why = startFlight(t.behind, windowLimit(limit))
		t.begun = rt.Now()
	}
}

func startFlight(age time.Duration, limit int64) (*trace.FlightRecorder, error) {
	// The size is a hint to the runtime; a file is never longer than the limit.
	f := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: max(age, time.Millisecond), MaxBytes: uint64(limit / 2)})
	if err := f.Start(); err != nil {
		return nil, err
	}
	return f, nil
}

// close stops the flight recorder, after the last window. No more windows are taken.
func (t *tracer) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.flight != nil {
		t.flight.Stop()
		t.flight = nil
	}
}

// windowLimit is how many bytes a window may have.
func windowLimit(limit int64) int64 {
	return min(max(limit/windowShare, smallestWindow), rawformat.MaxTraceFile)
}

// Trace takes a window of Go's execution trace: what is kept of the past, and what happens
// from now on for the time ahead, for which it waits. It returns the name of the file. The
// error is [ErrStopped], [ErrTracing], [ErrNoTrace], [rawformat.ErrTooBig], the runtime's
// or the disk's; then no file is left behind.
func (k *Keeper) Trace(ahead time.Duration) (name string, err error) {
	t := &k.tracer
	if !t.mu.TryLock() {
		return "", ErrTracing
	}
	defer t.mu.Unlock()
	switch {
	case t.ended || !k.IsActive():
		return "", ErrStopped
	case !t.allowed:
		return "", ErrNoTrace
	}
	flight, begin := t.flight, t.past(rt.Now())
	if flight == nil {
		if flight, err = startFlight(ahead, windowLimit(t.share.Load())); err != nil {
			return "", err
		}
		defer flight.Stop()
	}
	if !k.waitFor(ahead) {
		return "", ErrStopped
	}
	var file chunks.Trace
	err = shard.Guard(func() (err error) {
		file, err = k.keepTrace(flight)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("execution trace: %w", err)
	}
	clock, now := k.rec.Clock(), rt.Now()
	k.rec.Contain(func() { // Failure has the error
		k.rec.Interval(goTrace, clock.At(begin), clock.At(now), shard.Type(file.Name), shard.Type(int(file.Size)))
	})
	return file.Name, nil
}

// past is when the trace that is kept begins.
func (t *tracer) past(now rt.Time) rt.Time {
	if t.flight == nil {
		return now
	}
	return max(t.begun, now-rt.Time(t.behind))
}

// waitFor waits that long; false: the recorder is being stopped.
func (k *Keeper) waitFor(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-k.quit:
		return false
	}
}

// keepTrace writes what the flight recorder holds, after making room for it.
func (k *Keeper) keepTrace(flight *trace.FlightRecorder) (chunks.Trace, error) {
	t := &k.tracer
	limit := windowLimit(t.share.Load())
	if err := t.makeRoom(k, limit); err != nil {
		return chunks.Trace{}, err
	}
	charging := &chargingWriter{ring: k.ring}
	file, err := chunks.WriteTrace(k.files, t.next, limit, func(w io.Writer) error {
		charging.w = w
		_, err := flight.WriteTo(charging)
		return err
	})
	if err != nil {
		k.ring.Charge(-charging.charged)
		return file, err
	}
	t.next++
	t.kept = append(t.kept, file)
	t.occupied += file.Size
	return file, nil
}

// chargingWriter charges what is written to the limit, as it is written.
type chargingWriter struct {
	w       io.Writer
	ring    *ring.Ring
	charged int64
}

func (w *chargingWriter) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	w.ring.Charge(int64(n))
	w.charged += int64(n)
	return n, err
}

// makeRoom removes the oldest windows until one more fits.
func (t *tracer) makeRoom(k *Keeper, size int64) error {
	for len(t.kept) > 0 && t.occupied+size > max(t.share.Load()/traceShare, size) {
		oldest := t.kept[0]
		if err := chunks.RemoveTrace(k.files, oldest); err != nil {
			return err
		}
		t.kept = t.kept[1:]
		t.occupied -= oldest.Size
		k.ring.Charge(-oldest.Size)
	}
	return nil
}

// describe is the text for meta.
func (t *tracer) describe() string {
	switch {
	case !t.allowed:
		return "off"
	case t.why != nil:
		return fmt.Sprintf("on demand; the past is not kept: %v", t.why)
	case t.flight != nil:
		return fmt.Sprintf("the last %v are kept", t.behind)
	}
	return "on demand"
}
