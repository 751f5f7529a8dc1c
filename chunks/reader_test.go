package chunks

import (
	"slices"
	"testing"

	"gprof/rawformat"
)

// Blocks of several chunks come in index order, each as it was written.
func TestReadIntact(t *testing.T) {
	const capacity = 3 * rawformat.PageSize
	a := newTestChunk(1, 5, capacity).fill(capacity, "a").close()
	b := newTestChunk(1+capacity, 6, capacity).fill(5000, "b").close()
	p := mustOpen(t, dirOf(map[string][]byte{"chunk-00000": b.file(), "chunk-00001": a.file()}))
	if p.Instance != testInstance || p.Pid != testPid || len(p.Chunks) != 2 || p.Held != 1 {
		t.Errorf("process %+v", p)
	}
	blocks, problems := readAllBlocks(t, p)
	if len(problems) != 0 {
		t.Errorf("problems: %v", problems)
	}
	if len(blocks) != int(a.blocks+b.blocks) {
		t.Errorf("%d blocks, want %d", len(blocks), a.blocks+b.blocks)
	}
	if !slices.IsSortedFunc(blocks, func(x, y delivered) int { return int(x.index) - int(y.index) }) {
		t.Error("not in index order")
	}
	var fresh []uint64
	for _, d := range blocks {
		if d.fresh {
			fresh = append(fresh, d.index)
		}
	}
	if !slices.Equal(fresh, []uint64{1, 1 + capacity}) {
		t.Errorf("fresh blocks at %v", fresh)
	}
}
