package firefox

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/viewer"
	"gprof/fixtures/judges"
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
