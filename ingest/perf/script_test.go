package perf_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gprof/ingest/perf"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// folding counts the samples of each stack, by the names of its functions.
type folding struct {
	tables *stream.Tables
	counts map[string]int64
}

func (f *folding) Begin(t *stream.Tables) error {
	f.tables, f.counts = t, map[string]int64{}
	return nil
}

func (f *folding) Segment(b *stream.Batch) error {
	if b.Series.Kind == stream.Samples {
		for _, id := range b.Stack {
			f.counts[strings.Join(f.names(id), ";")]++
		}
	}
	return nil
}

func (f *folding) Close() error { return nil }

// names are those of a stack, the outermost first, as inferno gives them.
func (f *folding) names(id stream.StackID) []string {
	var names []string
	for id != 0 {
		parent, frame := f.tables.Stacks.At(id)
		row := f.tables.Frames.At(frame)
		name := "[unknown]"
		if row.Function != 0 {
			name = strings.ReplaceAll(f.tables.Strings.At(row.Function), ";", ":")
		} else if row.Module != 0 {
			name = "[" + strings.Trim(f.tables.Modules.At(row.Module).Name, "[]") + "]"
		}
		names, id = append(names, name), parent
	}
	slices.Reverse(names)
	return names
}

// folded are the counts of a text of perf script.
func folded(t *testing.T, text []byte) string {
	t.Helper()
	src, err := openScript(text)
	if err != nil {
		t.Fatal(err)
	}
	var sink folding
	if err := stream.Copy(streamtest.Validate(&sink), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for stack, n := range sink.counts {
		lines = append(lines, fmt.Sprintf("%s %d\n", stack, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// Texts of real programs give the stacks that inferno-collapse-perf 0.12.8 gives, built
// without what makes names shorter there: arguments that are cut off, and "->" that begins
// a function of Java.
func TestPrintedTexts(t *testing.T) {
	names, _ := filepath.Glob("testdata/script/*.txtar")
	if len(names) < 8 {
		t.Fatalf("only %d texts", len(names))
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		last := len(archive.Files) - 1
		want := string(archive.Files[last].Data)
		for _, f := range archive.Files[:last] {
			t.Run(filepath.Base(name)+"/"+f.Name, func(t *testing.T) {
				if got := folded(t, f.Data); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
				if !perf.SniffScript(f.Data[:min(len(f.Data), 512)]) {
					t.Error("not known by its beginning")
				}
			})
		}
	}
}

// Lines come again and again: to read one that was read before takes no memory.
func TestScriptAllocations(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/script/cpp.txtar")
	if err != nil {
		t.Fatal(err)
	}
	few := archive.Files[0].Data
	allocations := func(times int) float64 {
		text := bytes.Repeat(few, times)
		return testing.AllocsPerRun(1, func() { readAll(t, text, openScript) })
	}
	const times = 200
	samples := float64(times * bytes.Count(few, []byte("\n\n")))
	if more := (allocations(2*times) - allocations(times)) / samples; more > 1 {
		t.Errorf("%.2f allocations a sample", more)
	}
}

// Lacks tells the fields that perf script -F leaves out, and none is invented.
func TestScriptLacks(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/script/fields.txtar")
	if err != nil {
		t.Fatal(err)
	}
	lacks := map[string]string{
		"comm_pid_tid": "real time", "notime": "-F +time", "noevent": "-F +event", "nosymoff": "-F +pid", "ipsym": "-F +pid",
	}
	for _, f := range archive.Files {
		want, ok := lacks[f.Name]
		if !ok {
			continue
		}
		delete(lacks, f.Name)
		file, err := perf.OpenScript(opener(f.Data))
		if err != nil {
			t.Fatal(err)
		}
		if got := file.Lacks(); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in %q", f.Name, want, got)
		}
		for _, p := range file.Processes() {
			if p.Pid < 0 || f.Name == "ipsym" && (p.Pid != 0 || p.Name != "unnamed program") {
				t.Errorf("%s: process %+v", f.Name, p)
			}
		}
	}
	if len(lacks) > 0 {
		t.Errorf("no text of %v", slices.Collect(maps.Keys(lacks)))
	}
}

func BenchmarkScript(b *testing.B) {
	name := os.Getenv("PERF_SCRIPT") // a larger text
	if name == "" {
		name = "testdata/script/cpp.txtar"
	}
	text, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		readAll(b, text, openScript)
	}
}
