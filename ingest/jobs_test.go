package ingest

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"gprof/fixtures/corpus"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// The output does not depend on the order of the inputs, nor on the number of
// jobs.
func TestOrderAndJobs(t *testing.T) {
	dir := t.TempDir()
	_, err := corpus.Write(dir, corpus.Options{Processes: 6, Samples: 12_000, Markers: 200, Counts: 125,
		Stacks: 1000, Writers: 8, Generations: 3, Largest: 0.5, ChunkFile: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	inputs, _ := filepath.Glob(filepath.Join(dir, "*"))
	r := rand.New(rand.NewPCG(1, 2))
	var want []byte
	for _, jobs := range []int{0, 1, 2, 5} {
		r.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
		got, _ := textOf(t, inputs, Options{Jobs: jobs})
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d jobs, inputs %v: another output than before", jobs, inputs)
		}
	}
}

// textOf is what inputs give, as text, and the tables of it.
func textOf(t *testing.T, inputs []string, o Options) ([]byte, *stream.Tables) {
	t.Helper()
	src, found, err := Open(inputs, o)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var text bytes.Buffer
	if err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return text.Bytes(), src.Tables()
}
