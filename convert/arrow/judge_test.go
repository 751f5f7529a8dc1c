package arrow

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/tables"
	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

const begin = stream.Time(1_795_000_000_000_000_123) // not exact as a float64

// A table with more rows than a record batch holds is written as several, and
// no number is rounded.
func TestBatches(t *testing.T) {
	t.Parallel()
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Service: "shop", Start: begin})
	note := b.Event(stream.Event{Name: "a/b", Fields: []stream.EventField{{Name: "f", Type: stream.Float}, {Name: "s", Type: stream.Text}}})
	const n = batchRows + 10_000
	for i := range stream.Time(n) {
		p.Main.Add(streamtest.Row{Time: begin + i, Stack: b.Stack("main", "work"), Weight: 1, CPU: int64(i%3) - 1, Owner: stream.Owner{Goroutine: int64(i % 2)}})
	}
	p.Main.Mark(begin, stream.Instant, note, 0.5, "")
	p.Main.Mark(begin+1, stream.Instant, note, nil, nil)
	dir, _ := convert(t, b.Source(), tables.Zstd)
	samples, marks := filepath.Join(dir, "samples.arrow"), filepath.Join(dir, "typed_markers", "a~2Fb.arrow")
	schemas, err := judges.ArrowSchemas(t.Context(), samples)
	if err != nil {
		t.Fatal(err)
	}
	want := []judges.Row{}
	for _, c := range [][2]string{{"session", "Dictionary<Int8, Utf8>"}, {"process_id", "Int32"}, {"track_id", "Int32"}, {"ts_ns", "Int64"},
		{"event_index", "Int64"}, {"stack_id", "Int32"}, {"weight", "Int64"}, {"cpu_ns", "Int64"},
		{"thread_id", "Int64"}, {"goroutine_id", "Int64"}, {"labels", "Utf8"}, {"trace_id", "FixedSizeBinary[16]"}, {"span_id", "FixedSizeBinary[8]"}} {
		want = append(want, judges.Row{"name": c[0], "type": c[1], "nullable": slices.Contains([]string{"stack_id", "cpu_ns", "thread_id", "goroutine_id", "labels", "trace_id", "span_id"}, c[0]), "batches": 2.0})
	}
	if diff := cmp.Diff(want, schemas[0]); diff != "" {
		t.Error(diff)
	}
	answers, err := judges.Arrow(t.Context(), samples, marks)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range answers[0] {
		var cpu any
		if i%3 > 0 {
			cpu = strconv.Itoa(i%3 - 1)
		}
		var goroutine any
		if i%2 > 0 {
			goroutine = "1"
		}
		if row["goroutine_id"] != goroutine || row["thread_id"] != nil || row["labels"] != nil {
			t.Fatalf("row %d: %v", i, row)
		}
		if row["ts_ns"] != strconv.Itoa(int(begin)+i) || row["cpu_ns"] != cpu {
			t.Fatalf("row %d: %v", i, row)
		}
	}
	if got, want := len(answers[0]), n; got != want {
		t.Errorf("%d samples, want %d", got, want)
	}
	if m := answers[1]; m[0]["s_text"] != "" || m[0]["f_float"] != 0.5 || m[1]["s_text"] != nil || m[1]["f_float"] != nil {
		t.Errorf("markers %v", m)
	}
}

// eventTableOf are the tables of events.
var eventTableOf = map[stream.Kind]string{
	stream.Samples: "samples", stream.Markers: "markers", stream.Delays: "delays", stream.Allocations: "allocations", stream.Waits: "waits", stream.Measurements: "measurements", stream.Counts: "counters",
	stream.Pauses: "pauses", stream.Overheads: "overheads", stream.Logs: "logs", stream.Pages: "pages",
}

// All cases, read by apache-arrow: each table is there, and has the rows that were written. They are
// compressed in one way after the other; in convert, TestSameTables reads each in another way.
func TestReaderSeesCases(t *testing.T) {
	t.Parallel()
	type written struct {
		name, dir string
		count     *stream.Count
		files     []string
	}
	var all []written
	var files []string
	for i, c := range streamtest.Cases {
		compression := []tables.Compression{tables.LZ4, tables.None, tables.Zstd}[i%3]
		b := streamtest.NewBuilder()
		c.Build(b)
		w := written{name: fmt.Sprint(c.Name, " ", compression)}
		w.dir, w.count = convert(t, b.Source(), compression)
		w.files = filesOf(t, w.dir)
		files = append(files, w.files...)
		all = append(all, w)
	}
	answers, err := judges.Arrow(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range all {
		rows := map[string]int64{}
		for k, file := range w.files {
			rows[tableOf(w.dir, file)] += int64(len(answers[k]))
		}
		for kind, table := range eventTableOf {
			if want := w.count.Sum(func(s stream.Series) bool { return s.Kind == kind }).Rows; rows[table] != want {
				t.Errorf("%s: %s has %d rows, want %d", w.name, table, rows[table], want)
			}
		}
		answers = answers[len(w.files):]
		delete(rows, "typed_markers")
		if got := slices.Sorted(maps.Keys(rows)); len(got) != 21 {
			t.Errorf("%s: tables %v", w.name, got)
		}
	}
}
