package recorder_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// isGoTrace reports whether a file begins like a trace of the runtime.
func isGoTrace(t *testing.T, path string) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.HasPrefix(data, []byte("go 1.")) && len(data) > 1000
}

// A window lies beside the recording and is copied along with it; a marker refers to it.
func TestTrace(t *testing.T) {
	rec := begin(t, recorder.Options{Limit: 64 << 20}) // a busy test run fills a window quickly
	var log bytes.Buffer
	if err := trace.Start(&log); err != nil { // the program's own trace goes on
		t.Fatal(err)
	}
	path, err := rec.Trace(20 * time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	trace.Stop()
	if !isGoTrace(t, path) || log.Len() < 1000 {
		t.Errorf("%s; the program's own trace has %d bytes", path, log.Len())
	}
	at, err := rec.Snapshot(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if !isGoTrace(t, filepath.Join(at, filepath.Base(rec.Dir()), "trace-000.out")) {
		t.Error("not in the snapshot")
	}
	r := finish(t, rec)
	marks := r.of("go trace")
	if len(marks) != 1 || len(r.Traces) != 1 || r.Traces[0].Name != "trace-000.out" {
		t.Fatalf("%d markers, traces %v", len(marks), r.Traces)
	}
	m := marks[0]
	if string(m.args[0].Text) != "trace-000.out" || int64(m.args[1].Num) != r.Traces[0].Size || m.dur < 20e6 || m.dur > 60e9 {
		t.Errorf("marker %v of %d ns for %v", m.args, m.dur, r.Traces[0])
	}
	if _, err := rec.Trace(0); !errors.Is(err, recorder.ErrStopped) {
		t.Errorf("after Stop: %v", err)
	}
}

// If the past is kept, the window contains it.
func TestTraceBehind(t *testing.T) {
	rec := begin(t, recorder.Options{TraceBehind: time.Minute})
	trace.Log(context.Background(), "before", "this was logged before")
	path, err := rec.Trace(0)
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); !bytes.Contains(data, []byte("this was logged before")) {
		t.Error("what was before is not in the window")
	}
	if r := finish(t, rec); r.meta(rawformat.MetaSelfTest+"trace") != "the last 1m0s are kept" {
		t.Errorf("meta: %q", r.meta(rawformat.MetaSelfTest+"trace"))
	}
}

// The oldest windows are removed, and their bytes no longer count.
func TestTracesAreBounded(t *testing.T) {
	const limit = 2 << 20
	rec := begin(t, recorder.Options{Limit: limit, CPU: recorder.CPUOff, TraceBehind: time.Second})
	var last string
	taken := 0
	await(t, "twelve windows", func() bool {
		path, err := rec.Trace(0)
		if err == nil {
			taken, last = taken+1, path
		} else if !errors.Is(err, rawformat.ErrTooBig) { // the test run is busy with other things
			t.Fatal(err)
		}
		return taken == 12
	})
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(rec.Dir())), filepath.Base(rec.Dir()))
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, w := range p.Traces {
		sum += w.Size
	}
	if sum > limit/4 || len(p.Traces) == 0 || filepath.Base(last) != p.Traces[len(p.Traces)-1].Name {
		t.Errorf("%d bytes of at most %d in %v, the last one is %s", sum, limit/4, p.Traces, last)
	}
	if held := rec.Stats().Held; held < sum || held > limit {
		t.Errorf("holds %d bytes, with windows of %d", held, sum)
	}
	left, err := filepath.Glob(filepath.Join(rec.Dir(), "*.new"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// If a window can't be taken the error says why.
func TestTraceErrors(t *testing.T) {
	if _, err := (*recorder.Recorder)(nil).Trace(0); !errors.Is(err, recorder.ErrStopped) {
		t.Errorf("of nil: %v", err)
	}
	rec := begin(t, recorder.Options{Without: recorder.FeatureTrace, TraceBehind: time.Second})
	if _, err := rec.Trace(0); !errors.Is(err, recorder.ErrNoTrace) {
		t.Errorf("without the feature: %v", err)
	}
	rec.Stop()
	rec = begin(t, recorder.Options{})
	own := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Trace(0); err == nil {
		t.Error("beside the program's own flight recorder")
	}
	own.Stop()
	rec.Pause()
	if _, err := rec.Trace(0); !errors.Is(err, recorder.ErrStopped) {
		t.Errorf("while paused: %v", err)
	}
	rec.Resume()
	waiting := make(chan error)
	go func() {
		err := recorder.ErrTracing
		for errors.Is(err, recorder.ErrTracing) { // the other window has begun first
			_, err = rec.Trace(time.Hour)
		}
		waiting <- err
	}()
	waitFor(t, "a window is being taken", func() bool {
		_, err := rec.Trace(0)
		return errors.Is(err, recorder.ErrTracing)
	})
	rec.Stop()
	if err := <-waiting; !errors.Is(err, recorder.ErrStopped) {
		t.Errorf("stopped meanwhile: %v", err)
	}
}

// A window that would be too large is not kept.
func TestTraceTooBig(t *testing.T) {
	rec := begin(t, recorder.Options{Limit: 512 << 10, CPU: recorder.CPUOff, TraceBehind: time.Minute})
	trace.Log(context.Background(), "large", strings.Repeat("x", 1000))
	for i := range 1000 {
		trace.Log(context.Background(), "large", strings.Repeat("x", 900)+time.Duration(i).String())
	}
	_, err := rec.Trace(0)
	if left, _ := os.ReadDir(rec.Dir()); !errors.Is(err, rawformat.ErrTooBig) || strings.Contains(left[len(left)-1].Name(), "trace") {
		t.Errorf("error %v, left %v", err, left)
	}
}
