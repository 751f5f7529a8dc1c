package recorder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/recorder"
)

// Snapshots are taken while recording goes on. Each holds all that was marked in
// the time that was asked for, and what was marked long before is not copied.
func TestSnapshot(t *testing.T) {
	rec := begin(t, recorder.Options{Limit: 4 << 20, ChunkSize: 64 << 10})
	to := filepath.Join(t.TempDir(), "snapshots")
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-quit:
				return
			default:
				recorder.Text("noise", "while snapshots are taken")
				time.Sleep(10 * time.Microsecond) // the ring is small: what a snapshot wants must still be there
			}
		}
	}()
	n := 0
	for range 10 {
		first := n
		for range 100 {
			acked.Mark(n, "abc")
			n++
		}
		path, err := rec.Snapshot(to, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(path, filepath.Base(rec.Dir()))
		r := read(t, dir, chunks.Gap, chunks.Unproven, chunks.LeftOut, chunks.Stale)
		found := r.of("acked")
		if len(found) < 100 || found[len(found)-1].args[0].Num != uint64(n-1) || found[len(found)-100].args[0].Num != uint64(first) {
			t.Fatalf("%d of the markers until %d are found", len(found), n)
		}
	}
	close(quit)
	<-ended
	all, err := rec.Snapshot(to, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := read(t, filepath.Join(all, filepath.Base(rec.Dir())), chunks.Unproven)
	if live := read(t, rec.Dir(), chunks.Unproven); len(r.entries) == 0 || len(r.Chunks) < len(live.Chunks)-1 {
		t.Errorf("%d chunks of %d", len(r.Chunks), len(live.Chunks))
	}
	for range 20_000 {
		acked.Mark(n, "abc")
	}
	waitFor(t, "a snapshot without what is old", func() bool {
		some, err := rec.Snapshot(to, time.Nanosecond)
		if err != nil {
			t.Fatal(err)
		}
		r = read(t, filepath.Join(some, filepath.Base(rec.Dir())), chunks.Gap, chunks.Unproven, chunks.LeftOut)
		return len(r.LeftOut) > 0
	})
}

func TestSnapshotErrors(t *testing.T) {
	if _, err := (*recorder.Recorder)(nil).Snapshot(t.TempDir(), 0); !errors.Is(err, recorder.ErrStopped) {
		t.Errorf("of nil: %v", err)
	}
	rec := begin(t, recorder.Options{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Snapshot(file, 0); err == nil {
		t.Error("into a file: no error")
	}
	rec.Stop()
	dir := t.TempDir()
	if _, err := rec.Snapshot(dir, 0); !errors.Is(err, recorder.ErrStopped) {
		t.Errorf("after Stop: %v", err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
