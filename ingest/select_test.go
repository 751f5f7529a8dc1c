package ingest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"gprof/chunks"
	"gprof/fixtures/corpus"
	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// chapters is a session of three processes that record for some seconds, in many
// chunks.
func chapters(t *testing.T) string {
	dir := t.TempDir()
	_, err := corpus.Write(dir, corpus.Options{Processes: 3, Samples: 60_000, Markers: 200, Counts: 125,
		Stacks: 500, Writers: 4, Generations: 2, ChunkFile: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func find(t *testing.T, inputs []string, o Options) *Found {
	found, err := Find(inputs, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { found.Close() })
	return found
}

// Chunks outside of the selection are not read, and its rows are the same as if
// all had been.
func TestSelectReadsLess(t *testing.T) {
	dir := chapters(t)
	found := find(t, []string{dir}, Options{})
	start, end := found.Span()
	from := end - (end-start)/20
	var want, got stream.Count
	all := found.Source()
	_, allBytes := all.(stream.Progress).Progress()
	copyTo(t, &want, filter.ByTime(all, from, math.MaxInt64))
	some, err := find(t, []string{dir}, Options{}).Select(Selection{From: from, To: math.MaxInt64})
	if err != nil {
		t.Fatal(err)
	}
	_, bytes := some.(stream.Progress).Progress()
	copyTo(t, &got, filter.ByTime(some, from, math.MaxInt64))
	if bytes == 0 || bytes > allBytes/2 {
		t.Errorf("for the last 20th %d of %d bytes are read", bytes, allBytes)
	}
	if len(want.Series) == 0 || !slices.Equal(got.Series, want.Series) {
		t.Errorf("got %v, want %v", got.Series, want.Series)
	}
	skipped := int64(0)
	for _, line := range got.Tables.Ledger.Lines() {
		if line.Reason == stream.ReasonFiltered && (line.What == "chunks" || line.What == "processes") {
			skipped += line.Bytes
		}
	}
	if skipped != allBytes-bytes {
		t.Errorf("the ledger tells of %d bytes that were not read, want %d", skipped, allBytes-bytes)
	}
}

func copyTo(t *testing.T, sink stream.Sink, src stream.Source) {
	t.Helper()
	if err := stream.Copy(sink, src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Processes are chosen by any of their names, or the beginning of an instance.
// Others are not decoded. If none fits, the error lists all names.
func TestSelectProcesses(t *testing.T) {
	dir := chapters(t)
	found := find(t, []string{dir}, Options{})
	one := found.Processes[1]
	found.place()
	row := one.Row()
	patterns := filter.Patterns{filter.Pattern(one.Name()[:9] + "*"), filter.Pattern(one.Name()[:9]), filter.Pattern(strings.ToUpper(one.Name()[:12]))}
	for _, name := range []string{one.Name(), row.Title(), strings.Join(row.Words(), "-")} {
		patterns = append(patterns, filter.Pattern(name))
	}
	for _, pattern := range patterns {
		src, err := find(t, []string{dir}, Options{}).Select(Selection{Processes: filter.Patterns{pattern}})
		if err != nil {
			t.Fatal(err)
		}
		if p := src.Tables().Processes; len(p) != 1 || p[0].Instance != one.Instance || p[0].Title() != row.Title() {
			t.Errorf("%s: %v", pattern, p)
		}
		if _, total := src.(stream.Progress).Progress(); total != one.Bytes() {
			t.Errorf("%s: %d bytes are read, want %d", pattern, total, one.Bytes())
		}
	}
	_, err := found.Select(Selection{Processes: filter.Patterns{"nobody"}})
	if !errors.Is(err, filter.ErrNoMatch) || !strings.Contains(err.Error(), one.Name()) {
		t.Errorf("got %v, want a list with %s", err, one.Name())
	}
}

// A process of which all lies outside is not in the tables.
func TestSelectTime(t *testing.T) {
	dir := chapters(t)
	_, end := find(t, []string{dir}, Options{}).Span()
	for _, s := range []Selection{{From: end + 1e9, To: math.MaxInt64}, {From: 1, To: 2}} {
		src, err := find(t, []string{dir}, Options{}).Select(s)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(src.Tables().Processes); n != 0 {
			t.Errorf("%+v: %d processes", s, n)
		}
		copyTo(t, new(stream.Count), src)
	}
}

// The output of filters does not depend on the order of the inputs, nor on the
// number of jobs.
func TestFiltersOrderAndJobs(t *testing.T) {
	inputs, _ := filepath.Glob(filepath.Join(chapters(t), "*"))
	query, err := filter.ParseQuery("*[duration>1us]")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, grouping := range []Grouping{ByTrack, ByRoot, ByThread} {
		var want []byte
		for _, jobs := range []int{1, 2, 5} {
			r.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
			found := find(t, inputs, Options{Jobs: jobs})
			start, end := found.Span()
			half := (end - start) / 2
			src, err := found.Select(Selection{From: start + half, To: end, Grouping: grouping})
			if err != nil {
				t.Fatal(err)
			}
			src = filter.During(filter.ByTime(src, start+half, end), []filter.Query{query}, filter.DuringOptions{SpillDir: t.TempDir()})
			src = filter.TagRoot(filter.ByCategory(filter.ByTrack(src, filter.Tracks{"*"}, nil), filter.Patterns{"*"}), "track", "pid")
			var text bytes.Buffer
			copyTo(t, streamtest.Validate(streamtest.NewText(&text)), src)
			if want == nil {
				want = text.Bytes()
			}
			if !bytes.Equal(text.Bytes(), want) {
				t.Errorf("grouping %d, %d jobs, inputs %v: another output than before", grouping, jobs, inputs)
			}
		}
		if bytes.Count(want, []byte("\n  ")) < 100 {
			t.Errorf("grouping %d: nothing is left", grouping)
		}
	}
}

// Of all processes together one of so many chunks is read. Their titles and the ledger say so.
func TestSelectEvery(t *testing.T) {
	dir := chapters(t)
	const every = 7
	var all, some stream.Count
	found := find(t, []string{dir}, Options{})
	copyTo(t, &all, found.Source())
	chunks := 0
	for _, p := range found.Processes {
		chunks += len(p.Chunks)
	}
	src, err := find(t, []string{dir}, Options{}).Select(Selection{Every: every})
	if err != nil {
		t.Fatal(err)
	}
	copyTo(t, &some, src)
	any := func(stream.Series) bool { return true }
	if n, of := some.Sum(any).Rows, all.Sum(any).Rows; n < of/every/2 || n > of/every*2 {
		t.Errorf("%d of %d rows", n, of)
	}
	left := int64(0)
	for _, l := range some.Tables.Ledger.Lines() {
		if l.Reason == stream.ReasonFiltered && l.Where == "first picture" {
			left += l.Count
		}
	}
	if want := int64(chunks - chunks/every); left != want {
		t.Errorf("%d chunks left out, want %d", left, want)
	}
	for i := range some.Tables.Processes {
		if title, whole := some.Tables.Processes[i].Title(), all.Tables.Processes[i].Title(); !strings.HasSuffix(title, " chunks of "+whole) {
			t.Errorf("title %q, of all %q", title, whole)
		}
	}
}

// The description of a process is freed when its events were read, if nothing is asked of it any more.
func TestForget(t *testing.T) {
	dir := chapters(t)
	found := find(t, []string{dir}, Options{})
	var known []weak.Pointer[chunks.Process]
	for _, p := range found.Processes {
		known = append(known, weak.Make(p.Process))
	}
	perm, file := found.Perm(), filepath.Join(dir, found.Processes[1].Name(), "out")
	src := found.Source()
	found.Forget()
	var got, want stream.Count
	copyTo(t, &got, src)
	runtime.GC()
	for i, p := range known[:len(known)-1] { // the worker knows the last one still
		if p.Value() != nil {
			t.Errorf("process %d is kept", i)
		}
	}
	if !found.Reads(file) || found.Reads(filepath.Join(dir, "out")) || found.Perm() != perm {
		t.Errorf("reads a file of a process: %v; one beside it: %v; permissions %v, want %v", found.Reads(file), found.Reads(filepath.Join(dir, "out")), found.Perm(), perm)
	}
	copyTo(t, &want, find(t, []string{dir}, Options{}).Source())
	if len(want.Series) == 0 || !slices.Equal(got.Series, want.Series) {
		t.Errorf("got %v, want %v", got.Series, want.Series)
	}
	runtime.KeepAlive(src)
	runtime.KeepAlive(found)
}

// An input that is unpacked first, or is another tool's, takes long to open again.
func TestInPlace(t *testing.T) {
	dir := chapters(t)
	var unzipped bytes.Buffer
	archive := tar.NewWriter(&unzipped)
	if err := errors.Join(archive.AddFS(os.DirFS(dir)), archive.Close()); err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(unzipped.Bytes())
	z.Close()
	file, packed := filepath.Join(t.TempDir(), "session.tar.gz"), filepath.Join(t.TempDir(), "session.gprof")
	var pack bytes.Buffer
	_, err := find(t, []string{dir}, Options{}).Pack(&pack, PackOptions{})
	if err = errors.Join(err, os.WriteFile(packed, pack.Bytes(), 0o600), os.WriteFile(file, zipped.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		input string
		want  bool
	}{{dir, true}, {packed, true}, {file, false}, {"chrometrace/testdata/chrome.json", false}} {
		for _, p := range find(t, []string{c.input}, Options{}).Processes {
			if p.InPlace() != c.want {
				t.Errorf("%s: process %s is in place: %v", c.input, p.Name(), !c.want)
			}
		}
	}
}
