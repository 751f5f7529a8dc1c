package decode_test

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"gprof/decode"
	"gprof/fixtures/corpus"
	"gprof/stream"
)

// Dictionaries that do not fit under the ceiling are not loaded: the run ends
// before the memory is taken, and says how much is enough.
func TestDictionariesUnderCeiling(t *testing.T) {
	dir := t.TempDir()
	_, err := corpus.Write(dir, corpus.Options{Samples: 20_000, Stacks: 10_000, Generations: 4, Grow: true})
	if err != nil {
		t.Fatal(err)
	}
	copyWith := func(memory int64) (stacks int, err error) {
		tables, inputs := openAll(t, os.DirFS(dir))
		err = stream.Copy(stream.Discard, decode.New(tables, inputs, decode.Options{Jobs: 2}), stream.CopyOptions{Memory: memory, SpillDir: t.TempDir()})
		return tables.Stacks.Len(), err
	}
	const have = 2 << 20
	var tooMuch *stream.ErrMemory
	if stacks, err := copyWith(have); !errors.As(err, &tooMuch) || tooMuch.Have != have || stacks != 0 {
		t.Fatalf("got %v and %d stacks, want an ErrMemory and none", err, stacks)
	}
	if _, err := copyWith(tooMuch.Need); err != nil {
		t.Errorf("with what is said to be needed, %d: %v", tooMuch.Need, err)
	}
}

// A linked dictionary takes little more memory than its stacks in the tables:
// its file and its edges are not kept.
func TestDictionariesInMemory(t *testing.T) {
	one, little := heldFor(t, 1)
	three, much := heldFor(t, 3)
	if each := float64(much-little) / float64(three-one); each > 50 { // 34, of which 8 are the link; with its file and its edges it were 76
		t.Errorf("%d stacks take %d bytes, %d take %d: %.1f for each", one, little, three, much, each)
	}
}

// heldFor is how much memory a source takes, beside its table of stacks, when it
// begins to decode a process with so many dictionaries of the same stacks.
func heldFor(t *testing.T, generations int) (stacks int, bytes int64) {
	dir := t.TempDir()
	c, err := corpus.Write(dir, corpus.Options{Samples: 60_000, Stacks: 20_000, Writers: 2, ChunkFile: 32 << 10, Generations: generations})
	if err != nil {
		t.Fatal(err)
	}
	before := alive()
	tables, inputs := openAll(t, os.DirFS(dir))
	src := decode.New(tables, inputs, decode.Options{})
	var b stream.Batch
	if err := src.Next(&b); err != nil {
		t.Fatal(err)
	}
	bytes = alive() - before - tables.Stacks.Bytes()
	if err := src.Close(); err != nil {
		t.Fatal(err)
	}
	return c.Stacks, bytes
}

// alive is how many bytes of the heap are in use.
func alive() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
