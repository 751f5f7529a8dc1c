package pack_test

import (
	"bytes"
	"io"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/fixtures"
	"gprof/ingest/pack"
	"gprof/rawformat"
)

// tape writes numbered markers. A marker's content follows from its number, so
// that one which was never written can be told.
type tape struct {
	*fixtures.Recording
	n atomic.Uint64 // how many were written
}

const step = 1000 // ns between two of them

func newTape(t testing.TB, session string, o fixtures.Options) *tape {
	t.Helper()
	r, err := fixtures.New(session, o)
	must(t, err)
	return &tape{Recording: r}
}

func proof(n uint64) uint64 { return n*0x9e3779b97f4a7c15 | 1 }

func (w *tape) write() error {
	n := w.n.Load()
	body := rawformat.AppendSint([]byte{byte(rawformat.KindInstant), 1, 0}, step)
	body = rawformat.AppendArgs(body, []rawformat.Arg{rawformat.Uint64(n), {Wire: rawformat.WireFloat, Num: proof(n)}})
	if err := w.Put(body); err != nil {
		return err
	}
	w.Advance(step)
	w.n.Store(n + 1)
	return nil
}

// numbers reads the markers of a tape in an archive, and fails on one that was
// never written.
func numbers(t *testing.T, a *pack.Archive, written uint64) (all []uint64, problems []chunks.Problem) {
	t.Helper()
	p, err := chunks.OpenProcess(a, "0000000000000001")
	must(t, err)
	problems = slices.Clone(p.Problems)
	r := p.Blocks(func(p chunks.Problem) { problems = append(problems, p) })
	for r.Next() {
		b := r.Block()
		if b.Kind != rawformat.KindInstant {
			continue
		}
		b.Fields.Uint("event")
		b.Fields.Uint("stack")
		b.Fields.Uint("time")
		args := b.Fields.Args(nil, "args")
		if len(args) != 2 || args[1].Num != proof(args[0].Num) || args[0].Num >= written {
			t.Fatalf("invented: %v of %d", args, written)
		}
		all = append(all, args[0].Num)
	}
	must(t, r.Err())
	return all, problems
}

// slowWriter lets the ring turn while an archive is written.
type slowWriter struct {
	io.Writer
	wait func()
}

func (w slowWriter) Write(b []byte) (int, error) {
	w.wait()
	return w.Writer.Write(b)
}

// A session is packed while a writer goes on at full speed. Only markers that
// were written come out, and all that were committed at the moment of the
// snapshot and not overtaken by the ring. Nothing looks damaged.
func TestLiveSnapshot(t *testing.T) {
	for _, wait := range []struct {
		name string
		wait func(w *tape)
	}{
		{"at once", func(w *tape) {}},
		{"slowly", func(w *tape) {
			for until := w.n.Load() + 300; w.n.Load() < until; {
				time.Sleep(10 * time.Microsecond)
			}
		}},
	} {
		t.Run(wait.name, func(t *testing.T) {
			dir := t.TempDir()
			w := newTape(t, dir, fixtures.Options{})
			stop, done := make(chan struct{}), make(chan error, 1)
			go func() { done <- record(w, stop) }()
			for w.n.Load() < 100_000 { // the ring has turned
				time.Sleep(time.Millisecond)
			}
			overtaken := 0
			for range 6 {
				overtaken += snapshot(t, dir, w, wait.wait)
			}
			close(stop)
			must(t, <-done)
			if wait.name == "slowly" && overtaken == 0 {
				t.Error("the ring never turned while it was packed")
			}
		})
	}
}

// record writes until stop, and does the housekeeper's work.
func record(w *tape, stop chan struct{}) error {
	for {
		select {
		case <-stop:
			return w.Close()
		default:
		}
		for range 100 {
			if err := w.write(); err != nil {
				return err
			}
		}
		if err := w.Maintain(); err != nil {
			return err
		}
	}
}

// snapshot packs a session that is being recorded, looks at the result and
// returns how many chunks were overtaken by the ring.
func snapshot(t *testing.T, dir string, w *tape, wait func(w *tape)) int {
	t.Helper()
	before := w.n.Load()
	var b bytes.Buffer
	live := session(t, dir)
	live[0].Live = true // recordings made by hand have no lock
	sum, err := pack.Write(slowWriter{&b, func() { wait(w) }}, live, pack.Options{Report: func(err error) { t.Error(err) }})
	must(t, err)
	a := open(t, b.Bytes())
	if len(a.Problems) > 0 || !a.Live(1) {
		t.Error(a.Problems)
	}
	all, problems := numbers(t, a, w.n.Load())
	for _, p := range problems {
		if p.Class != chunks.Unproven && p.Class != chunks.Stale && p.Class != chunks.Missing {
			t.Error(p)
		}
	}
	if !slices.IsSorted(all) {
		t.Error("out of order")
	}
	if sum.Reused == 0 && (len(all) == 0 || all[len(all)-1]+1 < before || all[len(all)-1]-all[0]+1 != uint64(len(all))) {
		t.Errorf("%d markers, want all up to %d at least", len(all), before)
	}
	return sum.Reused
}

// countingReader notes what is read.
type countingReader struct {
	*bytes.Reader
	bytes int64
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.Reader.ReadAt(p, off)
	r.bytes += int64(n)
	return n, err
}

// A slice of an archive reads the chunks that it keeps, and the section headers
// of the others. It holds all of the time asked for, what it left out is no
// damage, and the range start is what it was.
func TestSlice(t *testing.T) {
	dir := t.TempDir()
	w := newTape(t, dir, fixtures.Options{Limit: 8 << 20})
	for range 200_000 {
		must(t, w.write())
		w.Advance(50_000 - step)
	}
	must(t, w.Close())
	data := packed(t, session(t, dir), pack.Options{})
	whole, _ := numbers(t, open(t, data), w.n.Load())

	r := &countingReader{Reader: bytes.NewReader(data)}
	a, err := pack.Open(r, int64(len(data)))
	must(t, err)
	from := int64(fixtures.Realtime) + 6_000_000_000
	var b bytes.Buffer
	sum, err := pack.Write(&b, processes(a), pack.Options{Span: pack.Span{From: from, To: from + 500_000_000}, Report: func(err error) { t.Error(err) }})
	must(t, err)
	if sum.LeftOut == 0 || sum.Chunks == 0 || sum.Chunks > sum.LeftOut {
		t.Fatalf("%+v", sum)
	}
	const cut = 400 << 10 // chunks are read to find where the span begins and ends: also those that begin up to 2 s after it
	if most := int64(b.Len()) + 64*int64(sum.LeftOut) + 4096 + cut; r.bytes > most {
		t.Errorf("%d bytes were read of %d for a slice of %d", r.bytes, len(data), b.Len())
	}
	sliced := open(t, b.Bytes())
	got, problems := numbers(t, sliced, w.n.Load())
	first, last := uint64(6_000_000_000/50_000), uint64(6_500_000_000/50_000)
	if len(got) == 0 || got[0] > first || got[0] < first-1000 || got[len(got)-1] < last || got[len(got)-1] > last+1000 || got[len(got)-1]-got[0]+1 != uint64(len(got)) || len(got) == len(whole) {
		t.Errorf("%d markers from %d to %d, want those from %d to %d", len(got), got[0], got[len(got)-1], first, last)
	}
	for _, p := range problems {
		if p.Class != chunks.LeftOut && p.Class != chunks.Missing {
			t.Error(p)
		}
	}
	p, err := chunks.OpenProcess(sliced, "0000000000000001")
	must(t, err)
	q, err := chunks.OpenProcess(a, "0000000000000001")
	must(t, err)
	if p.Held != q.Held || p.Held == 0 {
		t.Errorf("range start %d, want %d", p.Held, q.Held)
	}
	to := t.TempDir()
	must(t, pack.Unpack(to, sliced.Process(1), nil))
	if again := packed(t, session(t, to), pack.Options{}); !bytes.Equal(again, b.Bytes()) {
		t.Error("a slice that was unpacked and packed again differs")
	}
	all := packed(t, processes(a), pack.Options{Span: pack.Span{From: math.MinInt64, To: math.MaxInt64}})
	if !bytes.Equal(all, data) {
		t.Error("a slice of all time differs from the whole")
	}
}

// Processes from many archives become one archive, in any order the same.
func TestMerge(t *testing.T) {
	var parts []pack.Process
	for i := range 10 {
		dir := t.TempDir()
		w := newTape(t, dir, fixtures.Options{Instance: uint64(100 - i)})
		for range 1000 {
			must(t, w.write())
		}
		must(t, w.Close())
		parts = append(parts, processes(open(t, packed(t, session(t, dir), pack.Options{})))...)
	}
	want := packed(t, parts, pack.Options{})
	slices.Reverse(parts)
	if got := packed(t, append(parts, parts[3]), pack.Options{}); !bytes.Equal(got, want) {
		t.Error("another order gives other bytes")
	}
	if n := len(open(t, want).Instances()); n != 10 {
		t.Errorf("%d processes", n)
	}
	if _, err := pack.Write(io.Discard, nil, pack.Options{}); err != pack.ErrNothing {
		t.Error(err)
	}
}

// Dumps of one process from different times become one recording of it, though
// the ring used its files again in between.
func TestMergeDumps(t *testing.T) {
	dir := t.TempDir()
	w := newTape(t, dir, fixtures.Options{})
	var dumps []pack.Process
	for range 3 {
		for range 60_000 {
			must(t, w.write())
		}
		live := session(t, dir)
		live[0].Live = true
		dumps = append(processes(open(t, packed(t, live, pack.Options{}))), dumps...) // the best first
	}
	var want []uint64
	for _, d := range dumps {
		all, _ := numbers(t, open(t, packed(t, []pack.Process{d}, pack.Options{})), w.n.Load())
		want = append(want, all...)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	merged := packed(t, dumps, pack.Options{})
	got, problems := numbers(t, open(t, merged), w.n.Load())
	for _, p := range problems {
		if p.Class != chunks.Unproven && p.Class != chunks.Missing {
			t.Error(p)
		}
	}
	if !slices.Equal(got, want) || len(got) < 120_000 {
		t.Errorf("%d markers, want %d", len(got), len(want))
	}
	if again := packed(t, processes(open(t, merged)), pack.Options{}); !bytes.Equal(again, merged) {
		t.Error("packed again it differs")
	}
	last := session(t, dir)[0]
	last.Live = true
	slice := packed(t, []pack.Process{last}, pack.Options{Span: pack.Span{From: fixtures.Realtime + 100e9, To: math.MaxInt64}})
	both := packed(t, append(processes(open(t, slice)), dumps[0]), pack.Options{})
	alone := packed(t, dumps[:1], pack.Options{})
	a, _ := numbers(t, open(t, both), w.n.Load())
	b, _ := numbers(t, open(t, alone), w.n.Load())
	if !slices.Equal(a, b) {
		t.Errorf("a slice and the whole: %d markers, want %d", len(a), len(b))
	}
}
