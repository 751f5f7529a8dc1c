package main

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gprof/convert"
	"gprof/fixtures/corpus"
	"gprof/stream"
)

// recorded makes a small recording.
func recorded(t *testing.T) (session string) {
	t.Helper()
	session = filepath.Join(t.TempDir(), "session")
	if _, err := corpus.Write(session, corpus.Options{Samples: 3000, Markers: 200, Stacks: 500}); err != nil {
		t.Fatal(err)
	}
	return session
}

// ours is a session in a format.
func ours(t *testing.T, session, name string) []byte {
	t.Helper()
	format, o, err := convert.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	sink, err := format.New(&text, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := copyTo(sink, session); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// peers are the ways to write JSON by a library, by what they write.
var peers = map[string]map[string]func(io.Writer) stream.Sink{
	"x.gecko.json": {
		"encoding/json, lists": func(w io.Writer) stream.Sink { return newLists(w, standardJSON) },
		"encoding/json, typed": func(w io.Writer) stream.Sink { return newTyped(w, standardJSON) },
		"sonic, lists":         func(w io.Writer) stream.Sink { return newLists(w, sonicJSON) },
		"sonic, typed":         func(w io.Writer) stream.Sink { return newTyped(w, sonicJSON) },
	},
	"x.firefox.json": {
		"encoding/json, columns": func(w io.Writer) stream.Sink { return newColumns(w, standardJSON) },
		"sonic, columns":         func(w io.Writer) stream.Sink { return newColumns(w, sonicJSON) },
	},
}

// The comparison is of equal profiles: the libraries write the same threads as
// our own writer.
func TestSameProfile(t *testing.T) {
	session := recorded(t)
	for format, all := range peers {
		want := threadsOf(t, ours(t, session, format))
		for name, sink := range all {
			var theirs bytes.Buffer
			if err := copyTo(sink(&theirs), session); err != nil {
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
}

// threadsOf are the threads of a profile. Names of markers are texts, where they
// refer to strings that all threads share.
func threadsOf(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var p struct {
		Threads []map[string]any
		Shared  struct {
			StringArray []any
			StackTable  map[string]any
		}
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	for _, thread := range p.Threads {
		if p.Shared.StringArray == nil {
			break
		}
		thread["stackTable"] = p.Shared.StackTable
		names := thread["markers"].(map[string]any)["name"].([]any)
		for i := range names {
			names[i] = p.Shared.StringArray[int(names[i].(float64))]
		}
	}
	return p.Threads
}

// A line that is about a part of its work tells how much that was.
func TestParts(t *testing.T) {
	session := recorded(t)
	for name, work := range map[string]work{
		"rows":    formatRows("gecko.json"),
		"samples": writeTable(stream.Samples, "samples"),
		"markers": writeTable(stream.Markers, "markers", "typed_markers"),
	} {
		got, err := work(session)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int64{"samples": 3000, "markers": 600}[name]
		if name == "rows" && got.Rows > 0 && got.Rows%repeats == 0 {
			want = got.Rows
		}
		if got.Rows != want || got.Bytes == 0 || got.CPU <= 0 || (got.Memcpy > 0) != (name == "rows") {
			t.Errorf("%s: %+v, want %d rows", name, got, want)
		}
	}
}

// Each line whose goals name another is measured with it, and says for each goal
// what was reached.
func TestGoals(t *testing.T) {
	all := results{}
	for i, l := range lines {
		all[l.name] = result{said: said{Bytes: 1e6, Peak: int64(i+1) * 50e6}, cpu: 1e9 * 2, samples: 1e6}
		chosen, err := selected("^" + strings.ReplaceAll(l.name, "'", ".") + "$")
		if err != nil || len(chosen) < 1+len(l.beside) {
			t.Errorf("%s: only %d lines are chosen with it (%v)", l.name, len(chosen), err)
		}
		for _, name := range l.beside {
			if _, err := lineOf(name); err != nil {
				t.Error(err)
			}
		}
	}
	all[base] = result{cpu: 1e9, said: said{Peak: 10e6}}
	table := report(lines, all, 1e6)
	for _, want := range []string{
		"| firefox | 2.00 | 1.00 | 0.00 | 0.5 | 200 | 190 | 1.0 | ≥ 4 M samples/CPU s | 0.5 **no** |",
		"| CPU 1/5, memory 1/30 of pprof by google/pprof | 1/1.0, 1/1 **no** |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}
