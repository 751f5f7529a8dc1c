package ring

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
)

// turning is the directory of a ring that records while it is read: whenever its chunks
// are read, some are reused after the first few.
type turning struct {
	fs.FS
	t     *testing.T
	r     *Ring
	after int
	gone  int // so many go before, and others come
	left  int
}

func (d *turning) Open(name string) (fs.File, error) {
	switch {
	case name == ".":
		d.left = d.after
	case strings.HasPrefix(name, "chunk-"):
		if d.left--; d.left == 0 {
			d.turn()
		}
	}
	return d.FS.Open(name)
}

func (d *turning) turn() {
	bytes := int64(d.gone) * int64(d.r.o.ChunkFile)
	for _, charge := range []int64{bytes, -bytes} {
		d.r.Charge(charge)
		maintain(d.t, d.r)
	}
	for range 3 {
		d.r.Release(mustGet(d.t, d.r, 1))
	}
}

// gapsOf returns the gaps that a reader finds.
func gapsOf(t *testing.T, fsys fs.FS) []chunks.Problem {
	t.Helper()
	p, err := chunks.OpenProcess(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(p.Problems, func(pr chunks.Problem) bool { return pr.Class != chunks.Gap })
}

// Chunks that a ring hands out and discards while its files are read are not gaps. A chunk
// that somebody removed is one nevertheless.
func TestReadWhileRingTurns(t *testing.T) {
	const files = 12
	dir := t.TempDir()
	r, err := Open(folder.Dir(dir), testOptions(files))
	must(t, err)
	mustGet(t, r, 2) // for long: it is counted what was discarded behind it
	for range 2 * files {
		r.Release(mustGet(t, r, 1))
		maintain(t, r)
	}
	for after := range files {
		for _, gone := range []int{0, 1} {
			if gaps := gapsOf(t, &turning{FS: os.DirFS(dir), t: t, r: r, after: after, gone: gone}); len(gaps) > 0 {
				t.Errorf("turning behind file %d, and %d go: %v", after, gone, gaps)
			}
		}
	}
	c := mustGet(t, r, 1)
	r.Release(c)
	r.Release(mustGet(t, r, 1))
	must(t, os.Remove(filepath.Join(dir, c.ring.name)))
	if gaps := gapsOf(t, &turning{FS: os.DirFS(dir), t: t, r: r, after: 6}); len(gaps) != 1 {
		t.Errorf("a chunk is missing, and the gaps are %v", gaps)
	}
}
