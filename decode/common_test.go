package decode_test

import (
	"os"
	"testing"

	"gprof/decode"
	"gprof/fixtures/corpus"
	"gprof/stream"
)

// stacksOf is a sink that counts the stacks that it is given.
type stacksOf struct {
	stream.Sink
	n int
}

func (s *stacksOf) Begin(t *stream.Tables) error {
	s.n = t.Stacks.Len()
	return s.Sink.Begin(t)
}

// The tables hold stacks that several dictionaries define once, in whichever
// order each defines them: Copy finds no two that are equal.
func TestStacksInCommon(t *testing.T) {
	dir := t.TempDir()
	c, err := corpus.Write(dir, corpus.Options{Processes: 8, Samples: 8000, Stacks: 1000, Threads: 4, Writers: 1})
	if err != nil {
		t.Fatal(err)
	}
	tables, inputs := openAll(t, os.DirFS(dir))
	sink := &stacksOf{Sink: stream.Discard}
	if err := stream.Copy(sink, decode.New(tables, inputs, decode.Options{}), stream.CopyOptions{SpillDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	if got := tables.Stacks.Len(); got != sink.n || c.Stacks < 3*got {
		t.Errorf("the tables hold %d stacks, want %d, of %d definitions", got, sink.n, c.Stacks)
	}
}
