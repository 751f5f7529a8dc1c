package decode_test

import (
	"errors"
	"os"
	"testing"

	"gprof/bench/corpus"
	"gprof/decode"
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
