package ring

import (
	"os"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/internal/chunktest"
)

// A ring that rests holds what was written, sealed, and no other file; then it resumes.
func TestRest(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(8)
	o.MinSpare = 4
	r, err := Open(folder.Dir(dir), o)
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{Ring: r, ID: 1}
	write := func() {
		t.Helper()
		for range 20 {
			if !w.Log("rests") {
				t.Fatal("no chunk")
			}
		}
		w.Close()
	}
	maintain := func(files int) {
		t.Helper()
		if err := r.Maintain(); err != nil {
			t.Fatal(err)
		}
		if n := countFiles(t, dir); n != files {
			t.Errorf("%d files, want %d", n, files)
		}
	}
	write()
	r.Rest(true)
	if r.Low() {
		t.Error("a ring that rests wants chunks")
	}
	maintain(1)
	maintain(1)
	r.Rest(false)
	if !r.Low() {
		t.Error("no chunks are wanted")
	}
	maintain(5)
	write()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	blocks, problems := chunktest.ReadAll(t, p)
	if len(problems) > 0 || r.RangeStart() != 1 {
		t.Errorf("problems %+v, range start %d", problems, r.RangeStart())
	}
	compareHeld(t, p, blocks, w.Put)
}
