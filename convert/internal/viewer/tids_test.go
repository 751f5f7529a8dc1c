package viewer_test

import (
	"slices"
	"testing"

	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// A thread of the system keeps its tid, the first of several that have it; no two threads
// of an output have the same.
func TestTids(t *testing.T) {
	tables := &stream.Tables{}
	tracks := []stream.TrackID{0}
	for i, tid := range []int64{3, 0, 700, 3, 1, 0, 1 << 60, -5} {
		tracks = append(tracks, tables.Tracks.Intern(stream.Track{Process: stream.ProcessID(i + 1), Thread: tid}))
	}
	tids := viewer.NewTids(tables)
	var got []int64
	for _, i := range []int{1, 2, 3, 3, 4, 5, 6, 7, 8, 0} {
		got = append(got, tids.Next(tracks[i]))
	}
	if want := []int64{3, 2, 700, 4, 5, 1, 6, 7, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("tids %v, want %v", got, want)
	}
}
