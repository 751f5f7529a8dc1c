package streamtest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"gprof/stream"
)

// TestSource is a conformance suite for sources: open returns one at its beginning, each
// time with the same events. It checks
//
//   - Next: rows of one series, whatever was in the batch before, and io.EOF each time after the last one;
//   - the columns of the batches, and their ids in the complete tables;
//   - that each process has one main track, and an instance and indexes of its own;
//   - progress, if the source knows it;
//   - that Copy makes a valid stream of it, the same one each time.
func TestSource(t *testing.T, open func(t *testing.T) stream.Source) {
	t.Run("next", func(t *testing.T) { testNext(t, open(t)) })
	t.Run("end", func(t *testing.T) { testEnd(t, open(t)) })
	t.Run("reuse", func(t *testing.T) { testReuse(t, open(t), open(t)) })
	t.Run("tables", func(t *testing.T) { testTables(t, open(t)) })
	t.Run("progress", func(t *testing.T) { testProgress(t, open(t)) })
	t.Run("copy", func(t *testing.T) { testCopy(t, open(t), open(t)) })
}

// eachBatch calls visit with every batch of src, each in fresh memory.
func eachBatch(t *testing.T, src stream.Source, visit func(*stream.Batch)) {
	t.Helper()
	for {
		var b stream.Batch
		switch err := src.Next(&b); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatal("next:", err)
		}
		visit(&b)
	}
}

func testNext(t *testing.T, src stream.Source) {
	tables := src.Tables()
	eachBatch(t, src, func(b *stream.Batch) {
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		if b.Len() == 0 {
			t.Fatalf("a batch of %v has no rows; io.EOF says that there are no more", b.Series.Kind)
		}
	})
	if src.Tables() != tables {
		t.Error("the tables at the end are not those of the beginning")
	}
}

func testEnd(t *testing.T, src stream.Source) {
	eachBatch(t, src, func(*stream.Batch) {})
	for range 3 {
		var b stream.Batch
		if err := src.Next(&b); !errors.Is(err, io.EOF) || b.Len() != 0 {
			t.Fatalf("next after the end gives %d rows and the error %v, want 0 and %v", b.Len(), err, io.EOF)
		}
	}
}

// testReuse compares a source that is read with fresh batches with one that is read with
// batches that hold other rows.
func testReuse(t *testing.T, fresh, dirty stream.Source) {
	var want []Row
	eachBatch(t, fresh, func(b *stream.Batch) { want = append(want, Rows(b)...) })
	var got []Row
	var b stream.Batch
	for {
		soil(&b)
		if err := dirty.Next(&b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal("next:", err)
		}
		if err := b.Check(); err != nil {
			t.Fatal("what was in the batch before is left in it:", err)
		}
		got = append(got, Rows(&b)...)
	}
	if !slices.Equal(rowTexts(got), rowTexts(want)) {
		t.Errorf("with a batch that held rows before, other rows come: %d rows, want %d", len(got), len(want))
	}
}

// soil puts a row with all columns into b.
func soil(b *stream.Batch) {
	b.Reset(stream.Series{Process: 99, Track: 99, Kind: stream.Markers, Event: 99, Counter: 99}, 5)
	b.Time, b.Index = append(b.Time, 1), append(b.Index, 1)
	b.Stack, b.Weight, b.CPU = append(b.Stack, 1), append(b.Weight, 1), append(b.CPU, 1)
	b.Phase, b.Duration = append(b.Phase, 1), append(b.Duration, 1)
	b.Value, b.Number = append(b.Value, 1), append(b.Number, 1)
	b.AppendOwner(stream.Owner{Thread: 1, Goroutine: 1, Labels: 1})
	for i := range b.Args {
		b.Args[i].AppendText([]byte("soil"))
	}
}

// rowTexts makes rows comparable, in any order: NaN is not equal to itself.
func rowTexts(rows []Row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = rowText(r)
	}
	slices.Sort(out)
	return out
}

func testTables(t *testing.T, src stream.Source) {
	type position struct {
		process stream.ProcessID
		index   uint64
	}
	var batches []*stream.Batch
	seen := make(map[position]bool)
	eachBatch(t, src, func(b *stream.Batch) {
		batches = append(batches, b)
		for _, index := range b.Index {
			p := position{b.Series.Process, index}
			if seen[p] {
				t.Errorf("two rows of process %d have the index %d", p.process, index)
			}
			seen[p] = true
		}
	})
	for _, b := range batches {
		if err := checkSeries(src.Tables(), b); err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			if err := checkRow(src.Tables(), b, i); err != nil {
				t.Fatal(err)
			}
		}
	}
	testProcesses(t, src.Tables())
}

func testProcesses(t *testing.T, tables *stream.Tables) {
	instances := make(map[uint64]bool)
	mains := make(map[stream.ProcessID]int)
	for id := stream.TrackID(1); int(id) <= tables.Tracks.Len(); id++ {
		if k := tables.Tracks.At(id); k.Main {
			mains[k.Process]++
		}
	}
	for i, p := range tables.Processes {
		if id := stream.ProcessID(i + 1); mains[id] != 1 {
			t.Errorf("process %d has %d main tracks, want 1", id, mains[id])
		}
		if instances[p.Instance] {
			t.Errorf("two processes have the instance %#x", p.Instance)
		}
		instances[p.Instance] = true
	}
}

func testProgress(t *testing.T, src stream.Source) {
	p, ok := src.(stream.Progress)
	if !ok {
		return // it need not know
	}
	var last int64
	eachBatch(t, src, func(*stream.Batch) {
		done, total := p.Progress()
		if done < last || done > total {
			t.Errorf("done is %d of %d, after %d", done, total, last)
		}
		last = done
	})
}

func testCopy(t *testing.T, first, second stream.Source) {
	var a, b bytes.Buffer
	for _, c := range []struct {
		src stream.Source
		out *bytes.Buffer
	}{{first, &a}, {second, &b}} {
		if err := tryCopy(NewText(c.out), c.src); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("the same input gives other events\nfirst:  %s\nsecond: %s", excerpt(a.Bytes(), b.Bytes()), excerpt(b.Bytes(), a.Bytes()))
	}
}
