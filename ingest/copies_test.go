package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gprof/fixtures"
	"gprof/rawformat"
	"gprof/stream"
)

// Of two copies that reach equally far the intact one is read; of two that are
// damaged in different places always the same one. The order does not matter.
func TestCopiesInAnyOrder(t *testing.T) {
	whole := t.TempDir()
	w := newTape(t, whole, fixtures.Options{})
	w.write(t, 3000)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	first, second := damagedCopy(t, whole, 2*rawformat.PageSize), damagedCopy(t, whole, 3*rawformat.PageSize)
	for name, inputs := range map[string][]string{"one is whole": {first, whole}, "both are damaged": {first, second}} {
		a := readTape(t, inputs...)
		slices.Reverse(inputs)
		b := readTape(t, inputs...)
		if len(a.seen) == 0 || len(a.seen) != len(b.seen) {
			t.Fatalf("%s: %d and %d events", name, len(a.seen), len(b.seen))
		}
		for n := range a.seen {
			if !b.seen[n] {
				t.Fatalf("%s: event %d comes with one order only", name, n)
			}
		}
		if name == "one is whole" && len(a.seen) != 3000 {
			t.Errorf("%d of 3000 events, though one copy is whole", len(a.seen))
		}
	}
}

func damagedCopy(t *testing.T, session string, at int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(session)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*", "chunk-00000"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	data, err := os.ReadFile(names[0])
	if err == nil {
		data[at+100] ^= 1
		err = os.WriteFile(names[0], data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Dumps of one process from different times are one recording: each has what the
// ring held then. Chunks that two of them have are read once.
func TestDumpsFromDifferentTimes(t *testing.T) {
	session := t.TempDir()
	w := newTape(t, session, fixtures.Options{Limit: 6 * rawformat.ChunkAlign})
	var dumps []string
	alone := map[uint64]bool{}
	for range 3 {
		w.write(t, 30000) // more than the ring holds
		dump := t.TempDir()
		if err := os.CopyFS(dump, os.DirFS(session)); err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, dump)
		for n := range readTape(t, dump).seen {
			alone[n] = true
		}
	}
	for range 2 {
		all := readTape(t, dumps...)
		for n := range alone {
			if !all.seen[n] {
				t.Fatalf("event %d is in one of the dumps only, and not read; %d of %d are", n, len(all.seen), len(alone))
			}
		}
		if lines := all.lines(stream.ReasonGap); len(lines) > 0 {
			t.Errorf("%+v, though the recorder discarded what is missing", lines)
		}
		slices.Reverse(dumps)
	}
	again := readTape(t, dumps[0], dumps[0], dumps[2])
	if lines := again.lines(stream.ReasonDuplicate); len(lines) != 1 || lines[0].Count != 1 {
		t.Errorf("%+v", lines)
	}
}
