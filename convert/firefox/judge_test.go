package firefox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// open lets the released viewer read a golden file.
func open(t *testing.T, name string) *judges.Firefox {
	t.Helper()
	return judges.Viewing(t, golden(name))
}

func TestViewerSeesAllKinds(t *testing.T) {
	t.Parallel()
	f := open(t, "all kinds")
	threads, err := f.Threads(t.Context())
	const process = "checkout 1.42.0 · checkout-7f9c · pid 4711"
	want := []judges.Thread{
		{Handle: "t-0", Name: viewer.MainName, Process: process, Pid: "4711", Markers: 2},
		{Handle: "t-1", Name: "worker", Process: process, Pid: "4711", Markers: 2},
		{Handle: "t-2", Name: "worker (waiting)", Process: process, Pid: "4711"},
		{Handle: "t-3", Name: "worker delay", Process: process, Pid: "4711"},
	}
	if diff := cmp.Diff(want, threads); diff != "" || err != nil {
		t.Error(diff, err)
	}
	waits, err := f.Functions(t.Context(), "t-2", 0) // in ms
	if diff := cmp.Diff([]judges.Function{{Name: "main.work", Self: 2, Total: 2}, {Name: "main.main", Total: 2}}, waits); diff != "" || err != nil {
		t.Error(diff, err)
	}
	delays, err := f.Functions(t.Context(), "t-3", 0)
	if diff := cmp.Diff([]judges.Function{{Name: "main.work", Self: 3, Total: 3}, {Name: "main.main", Total: 3}}, delays); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, thread := range threads[:2] {
		if n, err := f.Samples(t.Context(), thread.Handle); n != 1 || err != nil {
			t.Errorf("%d samples, %v", n, err)
		}
		functions, err := f.Functions(t.Context(), thread.Handle, 0)
		if diff := cmp.Diff([]judges.Function{{Name: "main.work", Self: 1, Total: 1}, {Name: "main.main", Total: 1}}, functions); diff != "" || err != nil {
			t.Error(diff, err)
		}
		markers, err := f.Markers(t.Context(), thread.Handle)
		if diff := cmp.Diff([]judges.MarkerCount{{Name: "span", Count: 1}, {Name: "tick", Count: 1}}, markers); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}

func TestViewerReadsNothing(t *testing.T) {
	t.Parallel()
	processes, err := open(t, "empty").Processes(t.Context())
	if err != nil || len(processes) != 1 || processes[0].Name != "nothing" {
		t.Errorf("processes %+v, %v", processes, err)
	}
}

func TestViewerSeesCode(t *testing.T) {
	t.Parallel()
	functions, err := open(t, "code").Functions(t.Context(), "t-0", 0)
	for i := range functions {
		functions[i].Total = 0
	}
	t.Logf("%+v", functions)
	if err != nil || len(functions) != 4 {
		t.Errorf("%+v, %v", functions, err)
	}
}

// A range of the viewer doesn't hold its end, and the last row of a killed program is the end of
// its recording.
func TestViewerSeesLastRow(t *testing.T) {
	t.Parallel()
	tables := &stream.Tables{Processes: []stream.Process{{Name: "shop", Start: begin, End: begin + second}}}
	track := tables.Tracks.Intern(stream.Track{Process: 1, Main: true})
	stack := tables.Stacks.Intern(0, tables.Frames.Intern(stream.Frame{Function: tables.Strings.Intern("main"), Label: true}))
	event := tables.AddEvent(stream.Event{Name: "tick"})
	name := filepath.Join(t.TempDir(), "last.json")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	sink := sinkOf(file, pipeline.Options{})
	if err := sink.Begin(tables); err != nil {
		t.Fatal(err)
	}
	for _, s := range []stream.Series{{Process: 1, Track: track, Kind: stream.Samples}, {Process: 1, Track: track, Kind: stream.Markers, Event: event}, {Process: 1, Track: track, Kind: stream.Allocations}} {
		var b stream.Batch
		b.Reset(s, 0)
		for _, at := range []stream.Time{begin, begin + second} {
			streamtest.AppendRow(&b, streamtest.Row{Series: s, Time: at, Stack: stack, Weight: 1, Value: 100, Number: 1})
		}
		if err := sink.Segment(&b); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(sink.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	f := judges.Viewing(t, name)
	if n, err := f.Samples(t.Context(), "t-0"); n != 2 || err != nil {
		t.Errorf("%d samples, %v", n, err)
	}
	markers, err := f.Markers(t.Context(), "t-0")
	if diff := cmp.Diff([]judges.MarkerCount{{Name: "tick", Count: 2}}, markers); diff != "" || err != nil {
		t.Error(diff, err)
	}
	memory, err := f.Memory(t.Context(), "t-0", "native-allocations", "")
	if diff := cmp.Diff(map[string]int64{"main": 200}, memory); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
