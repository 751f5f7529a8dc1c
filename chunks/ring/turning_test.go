package ring

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/internal/chunktest"
)

// Reading a ring that turns meanwhile gives only blocks that were written. Blocks that
// were overwritten meanwhile are foreign or stale, or their range is missing; they are not
// damaged.
func TestReadTurningRing(t *testing.T) {
	dir := t.TempDir()
	ring, err := Open(folder.Dir(dir), testOptions(3))
	must(t, err)
	w := writer{Ring: ring, ID: 3}
	var stop atomic.Bool
	done := make(chan error)
	go func() {
		var err error
		for i := 0; !stop.Load(); i++ {
			w.Log(strings.Repeat(string(rune('a'+i%26)), i%500))
			if i%64 == 0 {
				err = errors.Join(err, ring.Maintain())
			}
		}
		done <- err
	}()
	var reads [][]chunktest.Block
	for len(reads) < 50 || ring.RangeStart() < 100*testCapacity {
		p, err := chunks.OpenProcess(os.DirFS(dir), ".")
		must(t, err)
		blocks, problems := chunktest.ReadAll(t, p)
		if len(reads) < 1000 {
			reads = append(reads, blocks)
		}
		for _, pr := range problems {
			if slices.Contains([]chunks.ProblemClass{chunks.Damaged, chunks.Torn, chunks.Unreadable, chunks.Duplicate}, pr.Class) {
				t.Errorf("problem %v", pr)
			}
		}
	}
	stop.Store(true)
	if err := <-done; err != nil {
		t.Error(err)
	}
	w.Close()
	written := map[uint64]string{}
	for _, b := range w.Put {
		written[b.Index] = b.Body
	}
	for _, blocks := range reads {
		for i, b := range blocks {
			if written[b.Index] != b.Body || i > 0 && b.Index <= blocks[i-1].Index {
				t.Fatalf("block %d was never written there: %q", b.Index, b.Body)
			}
		}
	}
	if err := ring.Close(); err != nil {
		t.Error(err)
	}
}

// A recording is read as it was when it was opened: blocks that its writer has added since may refer
// to definitions that were not there then. They are read once it is opened again.
func TestReadGrowingChunk(t *testing.T) {
	dir := t.TempDir()
	ring, err := Open(folder.Dir(dir), testOptions(3))
	must(t, err)
	w := writer{Ring: ring, ID: 3}
	write := func() (blocks int) {
		for range 10 {
			w.Log("text")
		}
		return len(w.Put)
	}
	before := write()
	opened, err := chunks.OpenProcess(os.DirFS(dir), ".")
	must(t, err)
	after := write()
	again, err := chunks.OpenProcess(os.DirFS(dir), ".")
	must(t, err)
	for want, p := range map[int]*chunks.Process{before: opened, after: again} {
		if blocks, _ := chunktest.ReadAll(t, p); len(blocks) != want {
			t.Errorf("%d blocks, want %d", len(blocks), want)
		}
	}
	w.Close()
	must(t, ring.Close())
}
