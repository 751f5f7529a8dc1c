package gotrace

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"testing"

	"gprof/stream"
)

// watched is a trace in memory. It looks at the heap each time that the end of a
// generation is read: the library then has all of it.
type watched struct {
	memoryFile
	ends  []int64
	heaps []int64
}

func (w *watched) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.memoryFile.ReadAt(p, off)
	if len(w.ends) > 0 && off == w.ends[0]-1 {
		w.ends = w.ends[1:]
		w.heaps = append(w.heaps, liveHeap())
	}
	return n, err
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// batchSizes make a generation of a mebibyte, in batches that the library reads
// in all ways that it has: into its buffer, past it, and of just that size.
var batchSizes = slices.Concat([]int{0, 1, feedBuffer - 1, feedBuffer, feedBuffer + 1, maxBatch - 1}, slices.Repeat([]int{maxBatch}, 15))

// TestGenerationsMemory holds what reading a trace takes: one generation, once,
// however many have been read.
func TestGenerationsMemory(t *testing.T) {
	const generations = 8
	d := draw(26)
	d.experiments = batchSizes
	w := &watched{}
	for n := range uint64(generations) {
		d.generation(n+1, (n+1)*second)
		w.ends = append(w.ends, int64(len(d.out)))
	}
	size := w.ends[0]
	f, err := Open(inMemory(d.out))
	if err != nil {
		t.Fatal(err)
	}
	w.memoryFile = memoryFile{bytes.NewReader(d.out)}
	f.open = func() (io.ReadCloser, error) { return w, nil }
	tables := &stream.Tables{Processes: []stream.Process{f.Process(nil)}}
	src := f.Source(tables, 1, Options{})
	before := liveHeap()
	var sink tallySink
	if err := stream.Copy(&sink, src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if sink.Markers["log"] != generations || len(w.heaps) != generations {
		t.Fatalf("%d generations were read, and %d looked at, want %d", sink.Markers["log"], len(w.heaps), generations)
	}
	for i, heap := range w.heaps {
		if taken := heap - before; taken > size+size/2 {
			t.Errorf("while generation %d is read %d KiB are taken, want about the %d KiB of it", i+1, taken>>10, size>>10)
		}
	}
}

// TestTooLarge has a generation that is larger than the memory that may be taken.
// The error then says how much is needed, which is enough, and not far too much.
func TestTooLarge(t *testing.T) {
	d := draw(26)
	d.experiments = batchSizes
	d.generation(1, second)
	convert := func(memory int64) error {
		src, err := sourceOf(d.out, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return stream.Copy(stream.Discard, src, stream.CopyOptions{Memory: memory})
	}
	var full *stream.ErrMemory
	if err := convert(1 << 20); !errors.As(err, &full) || !full.Input || full.Need != 2<<20 {
		t.Fatalf("the error is %+v, want an ErrMemory of the input, that 2 MiB are needed", err)
	}
	if err := convert(full.Need); err != nil {
		t.Errorf("with what is said to be needed: %v", err)
	}
}
