package recorder_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// statement is an allocation block.
type statement struct {
	index, previous            uint64
	allocated, allocatedBefore uint64
}

// statements returns the allocation blocks of objects of that size.
func (r *recording) statements(size uint64) (all []statement) {
	for blocks := r.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		b := blocks.Block()
		if b.Kind != rawformat.KindAllocation {
			continue
		}
		b.Fields.Sint("time")
		b.Fields.Uint("stack")
		found, rate := b.Fields.Uint("size"), b.Fields.Uint("rate")
		s := statement{index: b.Index, allocated: b.Fields.Uint("allocated")}
		b.Fields.Uint("freed")
		s.allocatedBefore = b.Fields.Uint("allocated-before")
		b.Fields.Uint("freed-before")
		s.previous = b.Fields.Uint("previous")
		if found == size && rate == uint64(runtime.MemProfileRate) {
			all = append(all, s)
		}
	}
	return all
}

// isRestated reports whether the first statement repeats one that lay before index held.
func isRestated(all []statement, held uint64) bool {
	return len(all) > 0 && all[0].previous > 0 && all[0].previous < held && all[0].allocated == 0 && all[0].allocatedBefore > 0
}

// total is how many objects are counted in the end.
func total(all []statement) uint64 {
	last := all[len(all)-1]
	return last.allocatedBefore + last.allocated
}

var retained [][]byte

// Objects in use are stated again before the block that stated them is discarded, and the new
// block says that the old one is gone.
func TestHeapIsRestated(t *testing.T) {
	const size, n = 8 << 20, 4 // so large that nearly all are sampled: one in ten million is not
	rec := begin(t, recorder.Options{Limit: 1 << 20, CPU: recorder.CPUOff, HeapEvery: 10 * time.Millisecond})
	t.Cleanup(func() { retained = nil })
	for range n {
		retained = append(retained, make([]byte, size))
	}
	for range 3 {
		runtime.GC()
	}
	var r *recording
	for deadline := time.Now().Add(time.Minute); ; {
		for range 40 {
			markFrom(1, 150)
			time.Sleep(2 * time.Millisecond) // like a program that goes on; the length does not matter
		}
		runtime.GC() // publishes what the last look came too early for
		// A dictionary may be removed after it was listed.
		r = read(t, rec.Dir(), chunks.Unproven, chunks.Torn, chunks.Stale, chunks.Unreadable, chunks.Missing)
		if all := r.statements(size); isRestated(all, r.Held) && total(all)%n == 0 || time.Now().After(deadline) {
			break
		}
	}
	all := r.statements(size)
	if len(all) == 0 {
		t.Fatal("nothing is told of objects in use")
	}
	if !isRestated(all, r.Held) {
		t.Errorf("the ring begins at %d with %+v, want all of before, and nothing new", r.Held, all[0])
	}
	if total := total(all); total == 0 || total%n != 0 { // the test may run several times
		t.Errorf("in the end %d objects, want %d, or a multiple", total, n)
	}
	finish(t, rec)
}

// Near a limit of memory the heap is read at once, with what no garbage collection has published, and a
// marker says how much of it is explained.
func TestPictureNearALimit(t *testing.T) {
	const size = 9 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	rec := begin(t, recorder.Options{Limit: 4 << 20, CPU: recorder.CPUOff, CounterHz: 10, HeapEvery: time.Hour})
	t.Cleanup(func() { retained = nil })
	for range 8 {
		retained = append(retained, make([]byte, size))
	}
	runtime.GC()
	debug.SetMemoryLimit(8 * size) // less than is in use
	var all []entry
	for deadline := time.Now().Add(time.Minute); len(all) == 0; time.Sleep(20 * time.Millisecond) {
		all = read(t, rec.Dir(), chunks.Unproven, chunks.Torn, chunks.Stale).of(rawformat.EventHeapPicture)
		if time.Now().After(deadline) {
			t.Fatal("no picture")
		}
	}
	last := all[len(all)-1].args // limit, used, most, heap, explained
	if string(last[0].Text) != "GOMEMLIMIT" || last[1].Num < 8*size || last[2].Num != 8*size {
		t.Errorf("%v, want GOMEMLIMIT, %d, and as much in use", last, 8*size)
	}
	if last[3].Num < 8*size || last[4].Num < 8*size {
		t.Errorf("%v, want a heap of at least %d, which is explained", last, 8*size)
	}
	r := finish(t, rec)
	if all := r.statements(size); len(all) == 0 || total(all) < 8 {
		t.Errorf("%+v, want 8 objects", all)
	}
}

// If heap samples are off there are none, and meta says so.
func TestNoHeap(t *testing.T) {
	rec := begin(t, recorder.Options{HeapEvery: -1})
	retained = append(retained[:0], make([]byte, 4<<20))
	runtime.GC()
	r := finish(t, rec)
	if n := r.kinds[rawformat.KindAllocation]; n != 0 {
		t.Errorf("%d allocation blocks", n)
	}
	for _, m := range r.Meta {
		if m.Key == rawformat.MetaSelfTest+"heap" && m.Value == "off" {
			return
		}
	}
	t.Errorf("meta does not say that heap samples are off: %v", r.Meta)
}
