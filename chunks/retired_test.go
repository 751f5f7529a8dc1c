package chunks

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"gprof/chunks/folder"
)

// turnedRing is a ring in dir that has turned several times.
func turnedRing(t *testing.T, dir string) *Ring {
	t.Helper()
	r, err := OpenRing(folder.Dir(dir), testOptions(6))
	if err != nil {
		t.Fatal(err)
	}
	w := &ringWriter{r: r}
	for i := range 20000 {
		if !w.log("some text that fills the ring, and some more of it") {
			t.Fatal("no chunk")
		}
		if i%500 == 0 {
			maintain(t, r)
		}
	}
	return r
}

func maintain(t *testing.T, r *Ring) {
	t.Helper()
	if err := r.Maintain(); err != nil {
		t.Fatal(err)
	}
}

// wantNoGap opens what a reader finds if the process is killed now.
func wantNoGap(t *testing.T, dir string) {
	t.Helper()
	p, err := OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, pr := range p.Problems {
		if pr.Class == Gap {
			t.Error(pr)
		}
	}
}

// Killed after a chunk was given back, before another header could say so.
func TestChunkGivenBackIsNoGap(t *testing.T) {
	dir := t.TempDir()
	r := turnedRing(t, dir)
	wantNoGap(t, dir)
	r.Charge(2 * int64(r.o.ChunkFile))
	maintain(t, r)
	wantNoGap(t, dir)
	files, _ := os.ReadDir(dir)
	before := len(files)
	mustGet(t, r, 2)
	maintain(t, r)
	wantNoGap(t, dir)
	if files, _ = os.ReadDir(dir); len(files) >= before {
		t.Errorf("%d files, the heads of chunks that were given back are still there", len(files))
	}
}

// Killed while a chunk was being opened: its epoch is cleared, no header says
// that its content was discarded.
func TestChunkBeingReusedIsNoGap(t *testing.T) {
	dir := t.TempDir()
	r := turnedRing(t, dir)
	r.mu.lock()
	c := r.take()
	r.handOut(c)
	r.mu.unlock()
	c.clearEpoch()
	wantNoGap(t, dir)
}

// vanishing lists a file that is gone when it is opened.
type vanishing struct {
	fstest.MapFS
	name string
}

func (v vanishing) Open(name string) (fs.File, error) {
	if name == v.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return v.MapFS.Open(name)
}

func (v vanishing) Stat(name string) (fs.FileInfo, error) {
	if name == v.name {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return v.MapFS.Stat(name)
}

// A chunk file goes while the directory is read: its ring, or who looks after a
// dead one's remains, has given it back. That is no damage and no gap.
func TestChunkGoesWhileOpened(t *testing.T) {
	files, _ := four()
	p := mustOpen(t, vanishing{dirOf(files), "p/chunk-00001"})
	problems := withoutMissing(p.Problems)
	if len(p.Chunks) != 3 || len(problems) != 1 || problems[0].Class != Stale || problems[0].Where != "chunk-00001" {
		t.Errorf("%d chunks, problems %+v", len(p.Chunks), problems)
	}
	if _, err := OpenChunk(vanishing{dirOf(files), "p/chunk-00001"}, "p/chunk-00001"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("given by name: %v", err)
	}
}

// The chunk that goes may be the only one that says how much was discarded before it.
func TestChunkGoesThatStates(t *testing.T) {
	files, _ := four()
	delete(files, "chunk-00001")
	p := mustOpen(t, vanishing{dirOf(files), "p/chunk-00002"})
	problems := withoutMissing(p.Problems)
	if len(p.Chunks) != 2 || len(problems) != 1 || problems[0].Class != Stale {
		t.Errorf("%d chunks, problems %+v", len(p.Chunks), problems)
	}
}
