package gotrace

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"gprof/stream"
)

// watched is a trace in memory. It looks at the heap each time that the last events of a generation are read.
type watched struct {
	memoryFile
	last  []int64 // offsets of the batches
	heaps []int64
}

func (w *watched) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.memoryFile.ReadAt(p, off)
	if len(w.last) > 0 && off == w.last[0] && len(p) > maxHead {
		w.last = w.last[1:]
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

// TestGenerationsMemory holds what reading a trace takes: a batch of each thread and the tables of a generation, however
// large it is, and however many have been read.
func TestGenerationsMemory(t *testing.T) {
	const generations, batches = 4, 64
	d := draw(26)
	d.filled = batches
	w := &watched{}
	for n := range uint64(generations) {
		d.generation(n+1, (n+1)*second)
		f := bytes.LastIndex(d.out, bytes.Repeat([]byte{evHeapAlloc, 0, 1}, maxBatch/3))
		w.last = append(w.last, int64(f))
	}
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
		if taken := heap - before; taken > batches*maxBatch/8 {
			t.Errorf("while generation %d is read %d KiB are taken, of the %d KiB of it", i+1, taken>>10, batches*maxBatch>>10)
		}
	}
}

// TestTooLarge has a generation whose tables are larger than the memory that may be taken. The error then says how
// much is needed, which is enough, and not far too much.
func TestTooLarge(t *testing.T) {
	d := draw(26)
	d.texts = 20
	d.generation(1, second)
	for jobs := range 2 {
		convert := func(memory int64) error {
			src, err := sourceOf(d.out, Options{Jobs: 1 + jobs})
			if err != nil {
				t.Fatal(err)
			}
			return stream.Copy(stream.Discard, src, stream.CopyOptions{Memory: memory})
		}
		var full *stream.ErrMemory
		if err := convert(1 << 20); !errors.As(err, &full) || !full.Input || full.Need > 4<<20 {
			t.Fatalf("%d jobs: the error is %+v, want an ErrMemory of the input, that 4 MiB or less are needed", 1+jobs, err)
		}
		if err := convert(8 << 20); err != nil {
			t.Errorf("%d jobs, with enough memory: %v", 1+jobs, err)
		}
	}
}
