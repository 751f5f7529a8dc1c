package recorder_test

import (
	"os"
	"path/filepath"
	"testing"

	"gprof/rawformat"
	"gprof/recorder"
)

// Stop copies what was recorded, and how it ended.
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

// A copy that can't be made is Stop's error, and nothing else suffers from it.
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
