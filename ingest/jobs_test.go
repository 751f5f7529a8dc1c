package ingest

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"gprof/bench/corpus"
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
		src, found, err := Open(inputs, Options{Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		found.Close()
		if want == nil {
			want = text.Bytes()
		}
		if !bytes.Equal(text.Bytes(), want) {
			t.Errorf("%d jobs, inputs %v: another output than before", jobs, inputs)
		}
	}
}
