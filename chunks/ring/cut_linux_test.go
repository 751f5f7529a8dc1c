//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package ring

import (
	"os"
	"path/filepath"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/internal/chunktest"
	"gprof/chunks/mapping"
)

// Chunk files are cut short while they are written. Bytes before the cut stay in the
// files, and the ring goes on with others.
func TestChunksCut(t *testing.T) {
	if err := mapping.CatchFaults(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r, err := Open(folder.Dir(dir), testOptions(6))
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{Ring: r, ID: 1}
	for i := range 20000 {
		if i%500 == 250 {
			cut(t, dir, int64(i%7)*4096)
		}
		w.Log("what is written while files are cut short")
		if i%100 == 0 {
			r.Maintain() // it may complain of files that are too short
		}
	}
	before := mapping.Faults()
	for range 20 { // nobody cuts any more: all chunks that were cut go
		for range 400 {
			w.Log("what is written afterwards")
		}
		w.Close()
		r.Maintain()
	}
	for _, c := range r.chunks {
		if c.LostBytes() > 0 {
			t.Errorf("%s is still in use", c.ring.name)
		}
	}
	if before == 0 {
		t.Error("no fault")
	}
	last := w.Put[len(w.Put)-1]
	w.Close()
	r.Close()
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	blocks, _ := chunktest.ReadAll(t, p)
	if n := len(blocks); n == 0 || blocks[n-1] != last {
		t.Errorf("%d blocks, the last one not %+v", n, last)
	}
}

// cut cuts all chunk files of a directory short.
func cut(t *testing.T, dir string, size int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "chunk-*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
	}
}
