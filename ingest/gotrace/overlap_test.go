package gotrace

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// snapshotOf is a trace of the generations from first to last.
func snapshotOf(first, last uint64) []byte {
	d := draw(newest)
	for n := first; n <= last; n++ {
		d.generation(n, 1_000_000_000*n)
	}
	return d.out
}

// TestOverlap holds that of snapshots that overlap each generation counts once, in
// whatever order they come, and that the ledger tells which were left out.
func TestOverlap(t *testing.T) {
	snapshots := [][]byte{snapshotOf(1, 3), snapshotOf(2, 5), snapshotOf(4, 6), snapshotOf(3, 4), snapshotOf(9, 9)}
	whole := tallyOurs(t, snapshotOf(1, 6), Options{}).tallied
	alone := tallyOurs(t, snapshots[4], Options{}).tallied
	for range len(snapshots) {
		snapshots = append(snapshots[1:], snapshots[0])
		var files []*File
		for _, data := range snapshots {
			f, err := Open(inMemory(data))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		slices.SortFunc(files, Compare)
		var seen Overlap
		var left []bool
		var logs, twice int64
		for _, f := range files {
			kept := seen.Trim(f)
			if left = append(left, kept); !kept {
				continue
			}
			sink, lines := tallyFile(t, f)
			logs, twice = logs+sink.Markers["log"], twice+lines
		}
		if diff := cmp.Diff([]bool{true, true, false, true, true}, left); diff != "" {
			t.Errorf("what is left of them: -want +got\n%s", diff)
		}
		if want := whole.Markers["log"] + alone.Markers["log"]; logs != want || twice != 2+2 {
			t.Errorf("%d logs, and %d generations left out; want %d and 4", logs, twice, want)
		}
	}
}

// tallyFile tallies what is left of a file, and the generations that another one has.
func tallyFile(t *testing.T, f *File) (sink tallySink, twice int64) {
	t.Helper()
	tables := &stream.Tables{Processes: []stream.Process{f.Process(nil)}}
	if err := stream.Copy(streamtest.Validate(&sink), f.Source(tables, 1, Options{}), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, l := range tables.Ledger.Lines() {
		if l.Reason == stream.ReasonDuplicate {
			twice += l.Count
		}
	}
	return sink, twice
}
