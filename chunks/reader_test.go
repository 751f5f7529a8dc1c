package chunks

import (
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

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

// A reader that is reset in the middle of damage is as good as new.
func TestReset(t *testing.T) {
	files, _ := four()
	files["chunk-00001"][rawformat.HeadSize+20] ^= 1
	p := mustOpen(t, dirOf(files))
	want, wantProblems := readAllBlocks(t, p)
	r := p.Blocks(nil)
	for stop := range len(want) + 2 {
		for range stop {
			r.Next()
		}
		var problems []Problem
		r.Reset(p.Chunks, func(p Problem) { problems = append(problems, p) })
		for i := range want {
			if !r.Next() || r.Block().Index != want[i].index || r.Block().Fresh != want[i].fresh {
				t.Fatalf("stopped behind %d blocks: block %d is %+v, want %+v", stop, i, r.Block(), want[i])
			}
		}
		if r.Next() || !slices.Equal(problems, wantProblems) {
			t.Fatalf("stopped behind %d blocks: %v, want %v", stop, problems, wantProblems)
		}
		r.Reset(p.Chunks, nil)
	}
}

// Reading chunks of 256 KiB, per byte of payload:
//
//	go -C chunks test . -run '^$' -bench Reader
func BenchmarkReader(b *testing.B) {
	const capacity = 256<<10 - rawformat.HeadSize - rawformat.TrailerSize
	c := newTestChunk(1, 5, capacity)
	for c.add(logBody("some forty bytes as a typical block has.")) {
	}
	fsys := fstest.MapFS{"chunk-00000": {Data: c.close().file()}}
	p, err := OpenChunk(fsys, "chunk-00000")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(capacity)
	b.ReportAllocs()
	r := p.Blocks(nil)
	for b.Loop() {
		n := 0
		for r.Reset(p.Chunks, nil); r.Next(); n++ {
		}
		if n != int(c.blocks) {
			b.Fatalf("%d blocks, want %d; %v", n, c.blocks, r.Err())
		}
	}
}

// Runs hold the same blocks that are delivered one by one otherwise, however damaged the
// file is.
func TestRuns(t *testing.T) {
	for _, data := range fixtureFiles() {
		for at := 0; at < len(data); at += 1 + len(data)/300 {
			data[at] ^= 0x41
			sameRuns(t, dirOf(map[string][]byte{"chunk-00000": data}))
			data[at] ^= 0x41
		}
	}
	a, b := straddling(100)
	sameRuns(t, dirOf(map[string][]byte{"chunk-00000": a.file(), "chunk-00001": b.close().file()}))
	files, _ := four()
	sameRuns(t, dirOf(files))
}

// sameRuns checks that both ways of reading a process give the same.
func sameRuns(t testing.TB, fsys fs.FS) {
	t.Helper()
	p, err := OpenProcess(fsys, "p")
	if err != nil {
		return // it is none
	}
	blocks, problems := readAllBlocks(t, p)
	var runs []delivered
	found := withoutMissing(p.Problems)
	r := p.Blocks(func(pr Problem) { found = append(found, pr) })
	for r.NextRun() {
		runs = append(runs, blocksOf(t, r.Run())...)
	}
	if !slices.Equal(blocks, runs) || !slices.Equal(problems, found) {
		t.Fatalf("%d blocks in runs, %v; want %d, %v", len(runs), found, len(blocks), problems)
	}
}

// blocksOf splits a run into blocks.
func blocksOf(t testing.TB, u Run) (blocks []delivered) {
	if cap(u.Data) < len(u.Data)+rawformat.Slack {
		t.Fatalf("run of %d bytes without slack", len(u.Data))
	}
	c := rawformat.NewCursor(u.Data, 0)
	for at := c.Offset(); ; at = c.Offset() {
		kind, fields, ok := c.Block()
		if !ok {
			return blocks
		}
		blocks = append(blocks, delivered{u.Index + uint64(at), string([]byte{byte(kind)}) + string(fields.Bytes(fields.Len(), "")), u.Fresh && at == 0})
	}
}
