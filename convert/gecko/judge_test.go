package gecko

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/viewer"
	"gprof/fixtures/judges"
)

// open lets the released viewer read a golden file.
func open(t *testing.T, golden string) *judges.Firefox {
	t.Helper()
	return judges.Viewing(t, "testdata/"+golden+".gecko.json")
}

func TestViewerSeesFamily(t *testing.T) {
	t.Parallel()
	f := open(t, "family")
	processes, err := f.Processes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names [][2]string
	for _, p := range processes {
		names = append(names, [2]string{p.Pid, p.Name})
	}
	if diff := cmp.Diff([][2]string{{"1 (000000000000000a)", "checkout 1.42.0 · checkout-7f9c · pid 1"}, {"1 (000000000000000b)", "thumbs · pid 1"}}, names); diff != "" {
		t.Error(diff)
	}
	threads, err := f.Threads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var samples []int
	for _, thread := range threads {
		n, err := f.Samples(t.Context(), thread.Handle)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, n)
	}
	if diff := cmp.Diff([]int{1, 3, 0, 3}, samples); diff != "" {
		t.Error(diff)
	}
	functions, err := f.Functions(t.Context(), "t-3", 0)
	want := []judges.Function{{Name: "main.work", Lib: "checkout", Self: 3, Total: 3}, {Name: "main.main", Lib: "checkout", Total: 3}}
	if diff := cmp.Diff(want, functions); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestViewerSeesEverything(t *testing.T) {
	t.Parallel()
	f := open(t, "everything")
	threads, err := f.Threads(t.Context())
	want := []judges.Thread{{Handle: "t-0", Name: viewer.MainName, Process: "shop 2 · h · pid 4711", Pid: "4711", CPU: 0.0005, Markers: 4}}
	if diff := cmp.Diff(want, threads); diff != "" || err != nil {
		t.Error(diff, err)
	}
	functions, err := f.Functions(t.Context(), "t-0", 0)
	wantFunctions := []judges.Function{
		{Name: "main.main", Lib: "shop (dev]", Self: 2, Total: 2},
		{Name: "0x1000000001234", Lib: "libc.so.6", Self: 1, Total: 1},
		{Name: "GET host:8080 ", Total: 1},
		{Name: "main.serve", Lib: "shop (dev]", Total: 1},
	}
	if diff := cmp.Diff(wantFunctions, functions); diff != "" || err != nil {
		t.Error(diff, err)
	}
	markers, err := f.Markers(t.Context(), "t-0")
	wantMarkers := []judges.MarkerCount{{Name: "request", Count: 2}, {Name: "Text", Count: 1}, {Name: "scheduler delay", Count: 1}}
	if diff := cmp.Diff(wantMarkers, markers); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestViewerReadsNothing(t *testing.T) {
	t.Parallel()
	processes, err := open(t, "empty").Processes(t.Context())
	if err != nil || len(processes) != 1 || processes[0].Name != "nothing" {
		t.Errorf("processes %+v, %v", processes, err)
	}
}
