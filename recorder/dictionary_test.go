package recorder

import (
	"strings"
	"testing"

	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

// What is mapped now counts, not what lay there before; the same file at the
// same place is known.
func TestLatestModuleCounts(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	<-r.mapped
	d := r.dict
	old := module{path: "/old", start: 0x10, end: 0x30, offset: 1}
	for _, tt := range []struct {
		m     module
		known bool
	}{
		{old, false},
		{old, true},
		{module{path: "/new", start: 0x10, end: 0x30, offset: 1}, false},
		{module{path: "/new", start: 0x10, end: 0x30, offset: 2}, false},
		{module{path: "/part", start: 0x18, end: 0x20}, false},
		{old, false},
	} {
		if got := d.knows(tt.m); got != tt.known {
			t.Errorf("%+v: known is %v", tt.m, got)
		}
		if !tt.known {
			d.module(tt.m)
		}
		if got, want := d.key(tt.m.start+1), (frameKey{uint32(len(d.modules)), 1}); got != want {
			t.Errorf("%+v: key %v, want %v", tt.m, got, want)
		}
	}
}

// Where a function begins is defined once: when it is first known, which may be
// after its frame.
func TestStartsAreDefinedOnce(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	<-r.mapped
	dismiss(r) // nobody else defines anything
	d := r.dict
	known := len(d.starts)
	chain := func(start int64) []location {
		return []location{{pc: 1, chain: []symbol{{"f", "f.go", 7, start}, {"g", "g.go", 8, start}}}}
	}
	for _, tt := range []struct {
		name    string
		stack   []location
		defines bool
	}{
		{"by a marker", chain(0), true},
		{"by a marker again", chain(0), false},
		{"by a sample", chain(5), true},
		{"by a sample again", chain(5), false},
		{"by a marker after all", chain(0), false},
	} {
		before := d.file.Size()
		d.stack(tt.stack)
		if got := d.file.Size() > before; got != tt.defines {
			t.Errorf("%s: defines something: %v", tt.name, got)
		}
	}
	if n := len(d.starts) - known; n != 2 || len(d.startless) != 0 {
		t.Errorf("%d functions with a first line, %d frames without; want 2 and none", n, len(d.startless))
	}
}

// strayAllocs is how many runs allocations are the average of: all that the process
// allocates meanwhile counts, and the average is rounded down.
const strayAllocs = 100

// A full dictionary looks for no modules: hashing them would be in vain.
func TestFullDictionaryLearnsNothing(t *testing.T) {
	r := beginInternal(t, Options{Limit: 1 << 20})
	<-r.mapped
	dismiss(r) // nobody else allocates, or begins a new generation
	for i := 0; !r.dict.isFull(); i++ {
		r.dict.define(record.New(rawformat.KindDefString).Uint(uint64(i + 1)).Text(strings.Repeat("x", 1000)))
	}
	r.dict.mu.Lock()
	r.dict.modules = nil
	r.dict.mu.Unlock()
	spent := testing.AllocsPerRun(strayAllocs, r.dict.learn)
	if spent != 0 {
		t.Errorf("%v allocations in a full dictionary, want none", spent)
	}
}
