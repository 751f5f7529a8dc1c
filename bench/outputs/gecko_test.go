package main

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"testing"

	"gprof/bench/corpus"
	"gprof/convert"
)

// What is compared is the same profile: both libraries write the threads that
// our own writer writes.
func TestSameProfile(t *testing.T) {
	session := filepath.Join(t.TempDir(), "session")
	if _, err := corpus.Write(session, corpus.Options{Samples: 3000, Markers: 200, Stacks: 500}); err != nil {
		t.Fatal(err)
	}
	format, o, err := convert.ByName("x.gecko.json")
	if err != nil {
		t.Fatal(err)
	}
	var ours bytes.Buffer
	sink, err := format.New(&ours, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := copyTo(sink, session); err != nil {
		t.Fatal(err)
	}
	want := threadsOf(t, ours.Bytes())
	for name, encode := range map[string]func(io.Writer, any) error{"encoding/json": standardJSON, "sonic": sonicJSON} {
		var theirs bytes.Buffer
		if err := copyTo(&naive{out: &theirs, encode: encode}, session); err != nil {
			t.Fatal(err)
		}
		got := threadsOf(t, theirs.Bytes())
		if len(got) != len(want) {
			t.Fatalf("%s: %d threads, want %d", name, len(got), len(want))
		}
		for i := range want {
			for _, key := range []string{"name", "samples", "markers", "stackTable", "frameTable", "stringTable"} {
				if !reflect.DeepEqual(got[i][key], want[i][key]) {
					t.Errorf("%s: thread %d has other %s:\n%.99v\nwant\n%.99v", name, i, key, got[i][key], want[i][key])
				}
			}
		}
	}
}

func threadsOf(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var p struct{ Threads []map[string]any }
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	return p.Threads
}
