package ingest

import (
	"context"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"testing"
	"time"

	"gprof/ingest/gotrace"
	"gprof/recorder"
	"gprof/stream"
	"gprof/stream/streamtest"
)

var stage = recorder.NewEvent1("stage", recorder.Int("n"))

// traced records a process that marks stages of time, and logs in the middle
// of each, with a window of its execution trace. It returns the session and the
// file of the window.
func traced(t *testing.T) (session, window string) {
	t.Helper()
	rec, err := recorder.Start(recorder.Options{Dir: t.TempDir(), CounterHz: -1, TraceBehind: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Stop()
	for n := range 20 {
		markStage(n)
	}
	window, err = rec.Trace(0) // all of it is past, so however long it took it is in the window
	if err != nil {
		t.Fatal(err)
	}
	return copyOf(t, rec.Session()), window
}

// markStage takes two milliseconds, between two events of the recorder, and
// logs in the middle.
func markStage(n int) {
	defer stage.Begin(n).End()
	<-time.After(time.Millisecond)
	trace.Logf(context.Background(), "stage", "%d", n)
	<-time.After(time.Millisecond)
}

// marks gathers markers by event: where each begins and ends.
type marks struct {
	stream.Sink
	t    *stream.Tables
	seen map[string][][2]stream.Time
}

func (m *marks) Begin(t *stream.Tables) error {
	m.t, m.seen = t, map[string][][2]stream.Time{}
	return m.Sink.Begin(t)
}

func (m *marks) Segment(b *stream.Batch) error {
	for i := range b.Len() {
		if b.Series.Kind == stream.Markers {
			name := m.t.Event(b.Series.Event).Name
			m.seen[name] = append(m.seen[name], [2]stream.Time{b.Time[i], b.Time[i] + stream.Time(b.Duration[i])})
		}
	}
	return m.Sink.Segment(b)
}

// marksOf converts inputs, and checks what every stream must keep to.
func marksOf(t *testing.T, inputs ...string) *marks {
	t.Helper()
	src, found, err := Open(inputs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for _, w := range found.Warnings {
		t.Error(w)
	}
	m := &marks{Sink: stream.Discard}
	if err := stream.Copy(streamtest.Validate(m), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return m
}

// checkAligned wants each log of the trace inside a stage of the recording:
// their clocks differ by less than a millisecond.
func (m *marks) checkAligned(t *testing.T) {
	t.Helper()
	if len(m.seen["log"]) < 3 {
		t.Errorf("the trace has %d logs, want 3 or more", len(m.seen["log"]))
	}
	for _, at := range m.seen["log"] {
		if !slices.ContainsFunc(m.seen["stage"], func(s [2]stream.Time) bool { return s[0] < at[0] && at[0] < s[1] }) {
			t.Errorf("a log at %d is in no stage", at[0])
		}
	}
}

// TestWindow reads a window of the execution trace as a part of the process that
// it lies beside.
func TestWindow(t *testing.T) {
	session, _ := traced(t)
	m := marksOf(t, session)
	m.checkAligned(t)
	if n := len(m.t.Processes); n != 1 {
		t.Errorf("%d processes, want 1", n)
	}
	for _, line := range m.t.Ledger.Lines() {
		if line.Reason.Severity() == stream.Loss {
			t.Errorf("the ledger tells of a loss: %+v", line)
		}
		if line.Reason == stream.ReasonDuplicate {
			t.Errorf("left out, though it is not recorded: %+v", line)
		}
	}
}

// TestTraceAlone reads an execution trace as a process of its own, beside the
// recording of the same time.
func TestTraceAlone(t *testing.T) {
	session, window := traced(t)
	data, err := os.ReadFile(window)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "trace.out")
	if err := os.WriteFile(alone, data, 0o600); err != nil {
		t.Fatal(err)
	}
	windows, _ := filepath.Glob(filepath.Join(session, "*", "trace-*"))
	for _, w := range windows {
		if err := os.Remove(w); err != nil {
			t.Fatal(err)
		}
	}
	for _, inputs := range [][]string{{session, alone}, {alone, session, alone}} {
		m := marksOf(t, inputs...)
		m.checkAligned(t)
		if n := len(m.t.Processes); n != 2 {
			t.Fatalf("%d processes, want 2", n)
		}
		for _, p := range m.t.Processes {
			if p.CPU == "execution trace" && p.Clock.By != gotrace.PlacedBySnapshots {
				t.Errorf("the trace was placed by %q", p.Clock.By)
			}
		}
	}
}

// TestTornWindow cuts a window: the ledger says so, and the recording stays.
func TestTornWindow(t *testing.T) {
	session, _ := traced(t)
	windows, _ := filepath.Glob(filepath.Join(session, "*", "trace-*"))
	info, err := os.Stat(windows[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(windows[0], info.Size()-10); err != nil {
		t.Fatal(err)
	}
	m := marksOf(t, session)
	if len(m.seen["stage"]) == 0 {
		t.Error("no stage is left")
	}
	lines := m.t.Ledger.Lines()
	if !slices.ContainsFunc(lines, func(l stream.Line) bool { return l.Reason == stream.ReasonTorn && l.What == "execution traces" }) {
		t.Errorf("the ledger does not tell of the window: %+v", lines)
	}
}
