//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package backlog

import (
	"runtime"
	"runtime/debug"
	"testing"
)

var kept [][]byte

//go:noinline
func keep(n, size int) {
	for range n {
		kept = append(kept, make([]byte, size))
	}
}

func read(t testing.TB) []runtime.MemProfileRecord {
	records := make([]runtime.MemProfileRecord, 100)
	for {
		n, ok := runtime.MemProfile(records, true)
		if ok {
			return records[:n]
		}
		records = make([]runtime.MemProfileRecord, n+50)
	}
}

// find finds the list; before, there must be some samples.
func find(t testing.TB, b *Backlog) {
	for i := range fewest {
		keep(1, 8<<20+i<<13) // of another size each
	}
	runtime.GC()
	if err := b.Find(read(t)); err != nil {
		t.Fatal(err)
	}
}

// inUse is how many objects of a size are in use, by all records.
func inUse(records []runtime.MemProfileRecord, size int64) (n int64) {
	for _, r := range records {
		if r.AllocObjects > 0 && r.AllocBytes/r.AllocObjects == size {
			n += r.InUseObjects()
		}
	}
	return n
}

// What was allocated since the last collection is there at once, and is not there twice when the
// runtime publishes it.
func TestAllocatedSinceTheLastCollection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer func() { kept = nil }()
	const size, n = 9 << 20, 3 // so large that all are sampled: one in ten million is not
	runtime.GC()
	var b Backlog
	find(t, &b)
	before := inUse(read(t), size)
	keep(n, size)
	records := read(t)
	if got := inUse(records, size) - before; got != 0 {
		t.Fatalf("the runtime has published %d objects: the test tests nothing", got)
	}
	if !b.Add(records) {
		t.Fatal("the records don't fit")
	}
	if got := inUse(records, size) - before; got != n {
		t.Errorf("%d objects, want %d", got, n)
	}
	for range 3 {
		runtime.GC()
		records = read(t)
		if !b.Add(records) {
			t.Fatal("the records don't fit")
		}
		if got := inUse(records, size) - before; got != n {
			t.Errorf("%d objects after a collection, want %d", got, n)
		}
	}
}

// Records that are not the newest ones are refused, not added to.
func TestOldRecords(t *testing.T) {
	defer func() { kept = nil }()
	var b Backlog
	find(t, &b)
	var old []runtime.MemProfileRecord
	for i := range 2 {
		if i == 1 {
			old = read(t)
		}
		keep(4, 9<<20)
		runtime.GC() // publishes
	}
	if b.Add(old) {
		t.Error("old records were added to")
	}
	if b.Add(append(read(t), make([]runtime.MemProfileRecord, 10000)...)) {
		t.Error("more records than there are buckets")
	}
}

func BenchmarkAdd(b *testing.B) {
	var l Backlog
	find(b, &l)
	records := read(b)
	for b.Loop() {
		n, _ := runtime.MemProfile(records[:cap(records)], true)
		l.Add(records[:n])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(records)), "ns/site")
}

func BenchmarkFind(b *testing.B) {
	find(b, new(Backlog))
	records := read(b)
	for b.Loop() {
		var l Backlog
		if err := l.Find(records); err != nil {
			b.Fatal(err)
		}
	}
}
