package ingest

import (
	"math"
	"os"
	"path/filepath"
	"runtime/trace"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/fixtures"
	"gprof/rawformat"
	"gprof/stream"
)

// Of a window of the execution trace beside a recording rows of those kinds are left out that are recorded, too, and no others.
func TestWindows(t *testing.T) {
	window := windowOfWaits(t)
	for _, test := range []struct {
		features []string
		waits    bool // are shown
		counts   bool
	}{
		{[]string{"markers", "samples", "counters"}, true, false},
		{[]string{"markers", "samples", "waits"}, false, true},
		{[]string{"markers"}, true, true},
		{nil, false, false}, // as before features were recorded: it may have all
	} {
		session := t.TempDir()
		var meta []chunks.Meta
		for _, f := range test.features {
			meta = append(meta, chunks.Meta{Key: rawformat.MetaFeature, Value: f})
		}
		r, err := fixtures.New(session, fixtures.Options{Meta: meta})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		writeFile(t, r.Dir, "trace-000.out", window)
		found, err := Find([]string{session}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		src, err := found.Select(Selection{})
		if err != nil {
			t.Fatal(err)
		}
		var count stream.Count
		if err := stream.Copy(&count, src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		found.Close()
		twice := map[string]bool{}
		for _, line := range count.Tables.Ledger.Lines() {
			if line.Reason == stream.ReasonDuplicate {
				twice[line.What] = true
			}
		}
		for kind, shown := range map[stream.Kind]bool{stream.Waits: test.waits, stream.Counts: test.counts} {
			rows := count.Sum(func(s stream.Series) bool { return s.Kind == kind }).Rows
			if left := twice[kind.String()+" of the execution trace"]; (rows > 0) != shown || left == shown {
				t.Errorf("recorded %v: %d %v, left out: %t", test.features, rows, kind, left)
			}
		}
	}
}

// A slice holds the windows that may have events of its time.
func TestWindowsOfSlices(t *testing.T) {
	session := t.TempDir()
	r, err := fixtures.New(session, fixtures.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now().UnixNano()
	writeFile(t, r.Dir, "trace-000.out", windowOfWaits(t))
	writeFile(t, r.Dir, "trace-001.out", []byte("damaged"))
	ended := time.Now().UnixNano()
	for span, want := range map[PackSpan]int{
		{From: begun - 1e9, To: ended}: 2, {From: begun, To: math.MaxInt64}: 2, {From: ended + 1e9, To: math.MaxInt64}: 1, {From: math.MinInt64, To: begun - 1e9}: 1,
	} {
		found, err := Find([]string{slice(t, filepath.Join(t.TempDir(), "slice.gprof"), span, session)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if traces := found.Processes[0].Traces; len(traces) != want {
			t.Errorf("of %v there are the windows %v, want %d", span, traces, want)
		}
		found.Close()
	}
}

// windowOfWaits is an execution trace of goroutines that wait.
func windowOfWaits(t *testing.T) []byte {
	name := filepath.Join(t.TempDir(), "trace")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		time.Sleep(10 * time.Millisecond)
		close(done)
	}()
	<-done
	trace.Stop()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
