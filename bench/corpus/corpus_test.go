package corpus

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/pprof/profile"

	"gprof/chunks"
	"gprof/rawformat"
)

func small(pprof string) Options {
	return Options{Processes: 3, Samples: 30_000, Markers: 200, Counts: 125, Stacks: 2000, Writers: 3, Generations: 3, Largest: 0.9, ChunkFile: 64 << 10, Pprof: pprof}
}

// Everything that was written can be read, and nothing is wrong with it.
func TestWrite(t *testing.T) {
	dir, pprof := t.TempDir(), t.TempDir()
	want, err := Write(dir, small(pprof))
	if err != nil {
		t.Fatal(err)
	}
	var got Corpus
	instances, _ := os.ReadDir(dir)
	for _, e := range instances {
		p, err := chunks.OpenProcess(os.DirFS(dir), e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range p.Problems {
			t.Error(problem)
		}
		got.count(p, func(problem chunks.Problem) { t.Error(problem) })
	}
	got.Definitions, got.Stacks, got.Sampled = want.Definitions, want.Stacks, want.Sampled
	if len(instances) != 3 || got != *want {
		t.Errorf("%d processes with %+v, want 3 with %+v", len(instances), got, *want)
	}
	if n := samplesOf(t, pprof); n != int64(want.Samples) {
		t.Errorf("%d samples in pprof files, want %d", n, want.Samples)
	}
}

// count adds what a process holds.
func (c *Corpus) count(p *chunks.Process, report func(chunks.Problem)) {
	c.Chunks += len(p.Chunks)
	for _, im := range p.Chunks {
		c.Bytes += int64(im.Header.Commit.Offset())
	}
	for r := p.Blocks(report); r.Next(); {
		switch r.Block().Kind {
		case rawformat.KindSample, rawformat.KindSameSample:
			c.Samples++
		case rawformat.KindInstant, rawformat.KindInterval:
			c.Markers++
		case rawformat.KindCounter:
			c.Counts++
		}
	}
}

func samplesOf(t *testing.T, dir string) (n int64) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.pb"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.ParseData(data)
		if err != nil || p.CheckValid() != nil {
			t.Fatal(name, err)
		}
		for _, s := range p.Sample {
			n += s.Value[0]
		}
	}
	return n
}

// The same options make the same bytes.
func TestWriteAgain(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	o := small("")
	o.Bytes, o.Samples, o.Grow = 300_000, 0, true
	for _, dir := range []string{a, b} {
		if _, err := Write(dir, o); err != nil {
			t.Fatal(err)
		}
	}
	files := 0
	filepath.WalkDir(a, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		rel, _ := filepath.Rel(a, name)
		one, _ := os.ReadFile(name)
		if other, err := os.ReadFile(filepath.Join(b, rel)); err != nil || string(one) != string(other) {
			t.Errorf("%s differs: %v", rel, err)
		}
		return nil
	})
	if files < 10 {
		t.Errorf("%d files", files)
	}
}
