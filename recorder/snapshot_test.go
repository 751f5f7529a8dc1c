package recorder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// Snapshots are taken while recording goes on. Each has all markers of the time that was asked
// for, and does not have markers from long before.
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
				time.Sleep(10 * time.Microsecond) // the ring is small, and must still hold what the snapshot asks for
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

// Stop copies the recording, including how it ended.
func TestDump(t *testing.T) {
	to := t.TempDir()
	rec := begin(t, recorder.Options{Service: "dumped", Dump: to})
	for n := range 1000 {
		acked.Mark(n, "abc")
	}
	want := finish(t, rec)
	got := read(t, filepath.Join(to, "dumped", filepath.Base(rec.Dir())))
	if n := len(got.of("acked")); n != 1000 || len(got.entries) != len(want.entries) {
		t.Errorf("%d markers, %d of %d entries", n, len(got.entries), len(want.entries))
	}
	if got.Exit == nil || got.Exit.Reason != rawformat.ExitStopped || got.meta(rawformat.MetaService) != "dumped" {
		t.Errorf("exit %+v, service %q", got.Exit, got.meta(rawformat.MetaService))
	}
}

// If the copy can't be made Stop returns the error, and all else works.
func TestDumpFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rec := begin(t, recorder.Options{Dump: file})
	if err := rec.Stop(); err == nil {
		t.Error("no error")
	}
	if r := read(t, rec.Dir()); r.Exit == nil {
		t.Error("the recording has no end")
	}
}
