package keeper

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

const branches = 24

var branchSink int

// branch makes a marker at the end of a path of calls that bits describes: each value has a
// stack of its own.
//
//go:noinline
func branch(n, bits, all int) {
	switch {
	case n == 0:
		mark(branching, all)
	case bits&1 == 0:
		branchLeft(n-1, bits>>1, all)
	default:
		branchRight(n-1, bits>>1, all)
	}
	branchSink++
}

//go:noinline
func branchLeft(n, bits, all int) { branch(n, bits, all); branchSink++ }

//go:noinline
func branchRight(n, bits, all int) { branch(n, bits, all); branchSink-- }

// stacksPerRound is how many new stacks the keeper takes in a round, at most.
const stacksPerRound = 32

// With more distinct stacks than a dictionary has room for, new generations begin while
// recording goes on, old ones are removed, and every marker in the ring has its own stack.
// $TEST_STACKS sets the number of stacks, for the long form.
func TestGenerations(t *testing.T) {
	stacks := 8000
	if n, err := strconv.Atoi(os.Getenv("TEST_STACKS")); err == nil {
		stacks = min(n, 1<<branches)
	}
	k, dir := begin(t, Config{Limit: 1 << 20, ChunkSize: 64 << 10})
	stopGoroutines(k) // this test does the keeper's work
	most := 0
	for first := 0; first < stacks; first += stacksPerRound {
		for range 2 { // first as pcs, then by id
			for i := first; i < first+stacksPerRound; i++ {
				branch(branches, i, i)
			}
			k.maintain()
			k.rec.InternStacks(k.dict)
			most = max(most, len(dictsOf(t, dir)))
		}
	}
	generation := k.generation
	stop(t, k)
	ids, raw := checkBranches(t, dir)
	t.Logf("%d generations, %d at a time; %d stacks by id, %d as pcs", generation, most, ids, raw)
	if generation < 3 || most > 2 || ids < 10 || len(dictsOf(t, dir)) > 2 {
		t.Error("want at least 3 generations, at most 2 at a time, and stacks by id")
	}
	if lost := losses(t, dir); lost[rawformat.LostDictionary]+lost[rawformat.LostBusy] > 0 {
		t.Errorf("lost %v", lost)
	}
}

// A new stack is written as pcs, and nothing is allocated.
func TestNewStacksDoNotAllocate(t *testing.T) {
	k, _ := begin(t, Config{Limit: 16 << 20})
	if !k.rec.Walks() {
		t.Logf("no frame pointers: %v", k.rec.TestStacks())
		return
	}
	stopGoroutines(k)
	bits := 0
	if n := testing.AllocsPerRun(100, func() { bits++; branch(branches, bits, bits) }); n != 0 {
		t.Errorf("%v allocations for a new stack", n)
	}
}

func dictsOf(t *testing.T, dir string) []string {
	names, err := filepath.Glob(filepath.Join(dir, "dict-*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// checkBranches compares the stack of each marker that has an id with the path that its
// argument describes.
func checkBranches(t *testing.T, dir string) (ids, raw int) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	dicts := map[uint32]*branchDict{}
	for _, d := range p.Dicts {
		dicts[d.Generation] = readBranches(d)
	}
	for blocks := p.Blocks(func(p chunks.Problem) { t.Error(p) }); blocks.Next(); {
		b := blocks.Block()
		d := dicts[uint32(b.Chunk.Header.Generation)]
		if d == nil {
			t.Fatalf("generation %d has no dictionary", b.Chunk.Header.Generation)
		}
		if b.Kind != rawformat.KindInstant {
			continue
		}
		event, stack := b.Fields.Uint("event"), b.Fields.Uint("stack")
		b.Fields.Sint("time")
		args := b.Fields.Args(nil, "args")
		if event != d.event {
			continue
		}
		if stack == 1 {
			raw++
			continue
		}
		if ids++; d.way(stack-1) != int(args[0].Num) {
			t.Fatalf("marker %d of generation %d has the stack of %d", args[0].Num, b.Chunk.Header.Generation, d.way(stack-1))
		}
	}
	return ids, raw
}

type branchDict struct {
	event   uint64
	strings map[uint64]string
	frames  map[uint64]string // function
	parents map[uint64][2]uint64
}

func readBranches(d *chunks.Dict) *branchDict {
	b := &branchDict{strings: map[uint64]string{}, frames: map[uint64]string{}, parents: map[uint64][2]uint64{}}
	for _, rec := range d.All(nil) {
		c := rec.Fields()
		switch rec.Kind {
		case rawformat.KindDefString:
			id := c.Uint("id")
			b.strings[id] = string(c.Text("text"))
		case rawformat.KindDefSymbol:
			frame, _, function := c.Uint("frame"), c.Uint("depth"), c.Uint("function")
			b.frames[frame] = b.strings[function]
		case rawformat.KindDefStack:
			id := c.Uint("id")
			b.parents[id] = [2]uint64{c.Uint("parent"), c.Uint("frame")}
		case rawformat.KindDefEvent:
			id, _, name := c.Uint("id"), c.Uint("category"), string(c.Text("name"))
			if name == "branching" {
				b.event = id
			}
		}
	}
	return b
}

// way returns the bits that a stack describes, the highest in the leaf.
func (b *branchDict) way(stack uint64) (bits int) {
	for n := 0; stack != 0 && n < branches; stack = b.parents[stack][0] {
		switch name := b.frames[b.parents[stack][1]]; {
		case strings.HasSuffix(name, ".branchLeft"):
			bits, n = bits<<1, n+1
		case strings.HasSuffix(name, ".branchRight"):
			bits, n = bits<<1|1, n+1
		}
	}
	return bits
}

// A goroutine that began where none had before passes that on only once, and its marker stands on
// a row with a name, also if a new dictionary begins before the keeper has named that: the chunk
// names the old one. If that has no room, the new one has the name, which begins when the recording ends
// if it has not before.
func TestRootsBetweenGenerations(t *testing.T) {
	for _, when := range []string{"half full", "full", "full at the end"} {
		full := when != "half full"
		k, dir := begin(t, Config{Limit: 1 << 20, ChunkSize: 64 << 10})
		if k.rec.TestGoroutines() != "by their numbers" {
			t.Skip("markers don't tell where goroutines began")
		}
		stopGoroutines(k) // this test does the keeper's work
		for i := 0; !k.dict.IsOutgrown() || full && !k.dict.IsFull(); i++ {
			k.dict.Define(record.New(rawformat.KindDefString).Uint(uint64(i + 1)).Text(strings.Repeat("x", 1000)))
		}
		done := make(chan bool)
		go func() { mark(probe, 1); close(done) }()
		<-done
		if full {
			k.rec.NameRoots(k.dict)
		}
		if when != "full at the end" {
			k.rotateDictionary()
		}
		stop(t, k)
		for of, named := range rootsOf(t, dir) {
			if want := !full || of == 2; k.generation != 2 || named != want {
				t.Errorf("%s, %d generations: %d has the root of the marker: %v, want %v", when, k.generation, of, named, want)
			}
		}
	}
}

// If the disk has no room for a new dictionary, or for a part of it, the keeper tries again, and what it says is about
// the disk.
func TestGenerationOnFullDisk(t *testing.T) {
	k, _ := begin(t, Config{Limit: 1 << 20, ChunkSize: 64 << 10})
	stopGoroutines(k) // this test does the keeper's work
	for i := 0; !k.dict.IsOutgrown(); i++ {
		k.dict.Define(record.New(rawformat.KindDefString).Uint(uint64(i + 1)).Text(strings.Repeat("x", 1000)))
	}
	disk := k.files
	for writes := range 2 { // the header does not fit, then what follows it
		k.files = fullDisk{disk, writes}
		k.rotateDictionary()
		if err := k.Trouble(); !errors.Is(err, syscall.ENOSPC) || errors.Is(err, os.ErrNotExist) || k.generation != 1 {
			t.Errorf("after %d writes: generation %d, trouble %v", writes, k.generation, err)
		}
	}
	k.files = disk
	if k.rotateDictionary(); k.generation != 2 {
		t.Errorf("generation %d when the disk has room again, want 2", k.generation)
	}
	stop(t, k)
}

// fullDisk has room for so many writes to each file that is made.
type fullDisk struct {
	folder.Folder
	writes int
}

func (d fullDisk) Create(name string) (folder.File, error) {
	f, err := d.Folder.Create(name)
	return &fullDiskFile{f, d.writes}, err
}

type fullDiskFile struct {
	folder.File
	writes int
}

func (f *fullDiskFile) WriteAt(b []byte, at int64) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, syscall.ENOSPC
	}
	return f.File.WriteAt(b, at)
}

// TestDeepRoots marks below more calls than a marker's stack has, so that the stack does not tell where the goroutine
// began.
func TestDeepRoots(t *testing.T) {
	for _, depth := range []int{200, 5000} { // the stack is walked to its end, or not
		k, dir := begin(t, Config{Limit: 1 << 20, ChunkSize: 64 << 10})
		if k.rec.TestGoroutines() != "by their numbers" {
			t.Skip("markers don't tell where goroutines began")
		}
		done := make(chan bool)
		go func() { deep(depth); close(done) }()
		<-done
		stop(t, k)
		if !rootsOf(t, dir)[1] {
			t.Errorf("below %d calls: nothing names the function in which the goroutine began", depth)
		}
	}
}

// deep marks below n calls.
func deep(n int) int {
	if n == 0 {
		mark(probe, 1)
		return 0
	}
	return deep(n-1) + 1
}

// rootsOf says which dictionaries name where the goroutine of the only marker of the first began.
func rootsOf(t *testing.T, dir string) map[uint32]bool {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	began := uint64(0)
	for blocks := p.Blocks(func(p chunks.Problem) { t.Error(p) }); blocks.Next(); {
		if b := blocks.Block(); b.Kind == rawformat.KindBegan && b.Chunk.Header.Generation == 1 {
			began = b.Fields.Uint("start")
		}
	}
	if began == 0 {
		t.Fatal("no marker says where its goroutine began")
	}
	named := map[uint32]bool{}
	for _, d := range p.Dicts {
		named[d.Generation] = false
		for _, rec := range d.All(nil) {
			if c := rec.Fields(); rec.Kind == rawformat.KindDefRoot && c.Uint("start") == began {
				named[d.Generation] = true
			}
		}
	}
	return named
}
