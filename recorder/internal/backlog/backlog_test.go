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

// inUse is how many objects of a size are in use: those that are published, and all.
func inUse(t *testing.T, b *Backlog, size int64) (published, all int64) {
	t.Helper()
	buckets, ok := b.Read()
	for range 100 { // other tests' garbage collections
		if ok {
			break
		}
		buckets, ok = b.Read()
	}
	if !ok {
		t.Fatal("the buckets don't stand")
	}
	for _, b := range buckets {
		if b.Size() == size {
			made, gone := b.Published()
			published += made - gone
			made, gone = b.All()
			all += made - gone
		}
	}
	return published, all
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
	before, _ := inUse(t, &b, size)
	keep(n, size)
	published, all := inUse(t, &b, size)
	if published != before {
		t.Fatalf("the runtime has published %d objects: the test tests nothing", published-before)
	}
	if all != before+n {
		t.Errorf("%d objects, want %d", all-before, n)
	}
	for range 3 {
		runtime.GC()
		if _, all := inUse(t, &b, size); all != before+n {
			t.Errorf("%d objects after a collection, want %d", all-before, n)
		}
	}
	if published, _ := inUse(t, &b, size); published != before+n {
		t.Errorf("%d objects published in the end, want %d", published-before, n)
	}
}

// The reading equals that of runtime.MemProfile, also for buckets that are new.
func TestAsPublished(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer func() { kept = nil }()
	var b Backlog
	find(t, &b)
	for i := range 3 {
		b.Read()
		keep(1, 10<<20+i<<13)
		runtime.GC()
		records := read(t)
		buckets, ok := b.Read()
		if !ok || len(buckets) < len(records) {
			t.Fatalf("%d buckets, %v; want at least %d", len(buckets), ok, len(records))
		}
		for i, r := range records { // the newest first
			bucket := &buckets[len(records)-1-i]
			made, gone := bucket.Published()
			if bucket.Stack() != r.Stack0 || made != r.AllocObjects || gone != r.FreeObjects || made*bucket.Size() != r.AllocBytes {
				t.Fatalf("record %d: %d of %d bytes, %d freed; want %+v", i, made, bucket.Size(), gone, r)
			}
		}
	}
}

// Numbers that change as they do when the runtime publishes are not taken.
func TestPublishedMeanwhile(t *testing.T) {
	defer func() { kept = nil }()
	var b Backlog
	find(t, &b)
	buckets, ok := b.Read()
	if !ok || !b.stands() {
		t.Fatal("they don't stand")
	}
	for _, damage := range []func(*Bucket){func(k *Bucket) { k.numbers[0][allocated]-- }, func(k *Bucket) { k.numbers[2][freed]++ }} {
		damage(&buckets[len(buckets)/2])
		if b.stands() {
			t.Error("what was published meanwhile is taken")
		}
		if b.Read(); !b.stands() {
			t.Error("it is not read anew")
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var l Backlog
	find(b, &l)
	n := 0
	for b.Loop() {
		buckets, _ := l.Read()
		n = len(buckets)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/site")
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
