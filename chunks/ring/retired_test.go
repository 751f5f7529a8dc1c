package ring

import (
	"os"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
)

// turnedRing is a ring in dir that has turned several times.
func turnedRing(t *testing.T, dir string) *Ring {
	t.Helper()
	r, err := Open(folder.Dir(dir), testOptions(6))
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{Ring: r}
	for i := range 20000 {
		if !w.Log("some text that fills the ring, and some more of it") {
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
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, pr := range p.Problems {
		if pr.Class == chunks.Gap {
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

// A chunk that is in use stays though younger ones are discarded. From when on nothing is missing the ring and its files tell
// alike.
func TestOldestBesideAChunkInUse(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(folder.Dir(dir), testOptions(6))
	if err != nil {
		t.Fatal(err)
	}
	used := mustGet(t, r, 1)
	w := &writer{Ring: r}
	for range 3000 {
		w.Log("some text that fills the ring, and some more of it")
	}
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	if at := p.Chunks[0].Header; at.RangeStart != used.RangeStart() || r.Discarded() == 0 {
		t.Fatalf("the oldest chunk is that at %d, want %d; %d are discarded", at.RangeStart, used.RangeStart(), r.Discarded())
	}
	after := p.AfterDiscards()
	if after == nil || after != p.Chunks[1] || after.Header.Open.Monotonic != r.Oldest() {
		t.Errorf("nothing is missing since %+v was opened, by the ring since %d, want since %d", after, r.Oldest(), p.Chunks[1].Header.Open.Monotonic)
	}
}
