package dict

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/rawformat"
	"gprof/recorder/internal/modules"
	"gprof/recorder/internal/record"
)

// The current module at an address counts, not an earlier one. The same file at the same address is not defined again.
func TestLatestModuleCounts(t *testing.T) {
	d := createDictionary(t, 1<<20)
	old := modules.Module{Path: "/old", Start: 0x10, End: 0x30, Offset: 1}
	for _, tt := range []struct {
		m     modules.Module
		known bool
	}{
		{old, false},
		{old, true},
		{modules.Module{Path: "/new", Start: 0x10, End: 0x30, Offset: 1}, false},
		{modules.Module{Path: "/new", Start: 0x10, End: 0x30, Offset: 2}, false},
		{modules.Module{Path: "/part", Start: 0x18, End: 0x20}, false},
		{old, false},
	} {
		if got := d.knows(tt.m); got != tt.known {
			t.Errorf("%+v: known is %v", tt.m, got)
		}
		if !tt.known {
			d.module(tt.m)
		}
		if got, want := d.key(tt.m.Start+1), (frameKey{uint32(len(d.modules)), 1}); got != want {
			t.Errorf("%+v: key %v, want %v", tt.m, got, want)
		}
	}
}

// The start of a function is defined once, when it is first known, which may be after
// its frame.
func TestStartsAreDefinedOnce(t *testing.T) {
	d := createDictionary(t, 1<<20)
	chain := func(start int64) []Frame {
		return []Frame{{PC: 1, Functions: []Function{{"f", "f.go", 7, start}, {"g", "g.go", 8, start}}}}
	}
	for _, tt := range []struct {
		name    string
		stack   []Frame
		defines bool
	}{
		{"by a marker", chain(0), true},
		{"by a marker again", chain(0), false},
		{"by a sample", chain(5), true},
		{"by a sample again", chain(5), false},
		{"by a marker after all", chain(0), false},
	} {
		before := d.file.Size()
		d.Stack(tt.stack)
		if got := d.file.Size() > before; got != tt.defines {
			t.Errorf("%s: defines something: %v", tt.name, got)
		}
	}
	if n := len(d.starts); n != 2 || len(d.startless) != 0 {
		t.Errorf("%d functions with a first line, %d frames without; want 2 and none", n, len(d.startless))
	}
}

// A dictionary is charged for the bytes of its files, also when it begins a new generation.
func TestTurn(t *testing.T) {
	var charged int64
	d := createDictionary(t, 1<<16)
	d.config.Charge = func(bytes int64) { charged += bytes }
	before := d.Size()
	d.module(modules.Module{Path: "/a", Start: 1, End: 2})
	names := []Frame{{Label: 7}}
	if id := d.Stack(names); id != 1 || d.IsOutgrown() {
		t.Fatalf("stack %d, outgrown: %v", id, d.IsOutgrown())
	}
	if charged != d.Size()-before {
		t.Errorf("charged %d bytes for %d", charged, d.Size()-before)
	}
	old := d.Size()
	big := record.New(rawformat.KindDefString).Uint(1).Text(strings.Repeat("x", 4000))
	if err := d.Turn(createFile(t, 2), slices.Repeat([][]byte{big}, 20)); !errors.Is(err, errCrowded) || d.Size() != old || charged != old-before {
		t.Errorf("%v, %d bytes, charged %d; want all as it was", err, d.Size(), charged)
	}
	d = createDictionary(t, 1<<16)
	d.config.Charge = func(bytes int64) { charged += bytes }
	d.module(modules.Module{Path: "/a", Start: 1, End: 2})
	d.Stack(names)
	charged = 0
	if err := d.Turn(createFile(t, 2), [][]byte{big}); err != nil || charged != d.Size() {
		t.Errorf("%v, charged %d bytes for %d", err, charged, d.Size())
	}
	if len(d.modules) != 1 || len(d.stacks.of) != 0 || d.Stack(names) != 1 {
		t.Errorf("modules %v, stacks %v", d.modules, d.stacks.of)
	}
}

// createFile creates the file of a dictionary.
func createFile(t *testing.T, generation uint32) *chunks.RecordFile {
	t.Helper()
	f, err := chunks.CreateDict(folder.Dir(t.TempDir()), 1, generation, 1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func createDictionary(t *testing.T, limit int64) *Dictionary {
	t.Helper()
	d := New(createFile(t, 1), Config{Limit: limit, Charge: func(int64) {}, LabelName: func(uint32) (string, uint32) { return "label", 0 }})
	t.Cleanup(func() { d.Close() })
	return d
}

// strayAllocs is over how many runs allocations are averaged: other allocations of the process count, too, and the average
// is rounded down.
const strayAllocs = 100

// A full dictionary looks for no modules: hashing them would be in vain.
func TestFullDictionaryLearnsNothing(t *testing.T) {
	d := createDictionary(t, 1<<16)
	for i := 0; !d.IsFull(); i++ {
		d.Define(record.New(rawformat.KindDefString).Uint(uint64(i + 1)).Text(strings.Repeat("x", 1000)))
	}
	spent := testing.AllocsPerRun(strayAllocs, d.Learn)
	if spent != 0 {
		t.Errorf("%v allocations in a full dictionary, want none", spent)
	}
}
