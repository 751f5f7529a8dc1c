package ingest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/pprof/profile"

	"gprof/fixtures/corpus"
	"gprof/ingest/archive"
	"gprof/ingest/internal/damage"
	"gprof/ingest/pprof"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// profileOf is a small profile, the i-th of many.
func profileOf(i int) *profile.Profile {
	f := &profile.Function{ID: 1, Name: fmt.Sprint("main.work", i)}
	l := &profile.Location{ID: 1, Address: uint64(0x1000 + i), Line: []profile.Line{{Function: f, Line: 3}}}
	return &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Sample:     []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{2, 20e6}}, {Location: []*profile.Location{l, l}, Value: []int64{1, 10e6}}},
		Location:   []*profile.Location{l}, Function: []*profile.Function{f},
		TimeNanos: 1_795_000_000_000_000_000 + int64(i)*1e9, DurationNanos: 5e8,
	}
}

// packedProfile is that as it is mostly stored, rawProfile as it is.
func packedProfile(t *testing.T, i int) []byte {
	var out bytes.Buffer
	if err := profileOf(i).Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func rawProfile(t *testing.T, i int) []byte {
	var out bytes.Buffer
	if err := profileOf(i).WriteUncompressed(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func writeFile(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// events is all that inputs give, as text, without the ledger.
func events(t *testing.T, inputs []string, o Options) string {
	t.Helper()
	text, _ := textOf(t, inputs, o)
	lines := strings.Split(string(text), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "ledger ") }), "\n")
}

// Profiles give the same wherever they lie, however they are packed, in any order
// and with any number of jobs; one that is there twice is read once.
func TestProfilesAnywhere(t *testing.T) {
	dir := t.TempDir()
	tarred, raw := tarOfProfiles(t, packedProfile(t, 0), rawProfile(t, 1), packedProfile(t, 2)), filepath.Join(dir, "raw")
	for i := range 3 {
		writeFile(t, dir, fmt.Sprintf("pile/%d.pb.gz", i), packedProfile(t, i))
		writeFile(t, raw, fmt.Sprint("profile-", i), rawProfile(t, i))
	}
	file := writeFile(t, dir, "profiles.tar", tarred)
	want := events(t, []string{filepath.Join(dir, "pile")}, Options{})
	if n := strings.Count(want, "weight 2 "); n != 3 {
		t.Fatalf("%d samples of weight 2, want 3, in\n%s", n, want)
	}
	for name, inputs := range map[string][]string{
		"raw": {raw}, "tar": {file}, "stdin": {"-"}, "twice": {dir, file}, "each": {filepath.Join(dir, "pile", "2*"), filepath.Join(raw, "profile-0"), filepath.Join(raw, "profile-1")},
	} {
		for jobs := range 3 {
			if got := events(t, inputs, Options{Stdin: bytes.NewReader(tarred), Jobs: jobs}); got != want {
				t.Errorf("%s, %d jobs:\n%s\nwant:\n%s", name, jobs, got, want)
			}
		}
	}
	alone := events(t, []string{"-"}, Options{Stdin: bytes.NewReader(packedProfile(t, 1))})
	if alone != events(t, []string{filepath.Join(raw, "profile-1")}, Options{}) {
		t.Errorf("from a pipe there comes\n%s", alone)
	}
}

func tarOfProfiles(t *testing.T, files ...[]byte) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i, data := range files {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprint("x/", i), Size: int64(len(data)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		w.Write(data)
	}
	w.Close()
	return out.Bytes()
}

// opened counts how often files are opened.
type opened struct {
	fs.FS
	n int
}

func (o *opened) Open(name string) (fs.File, error) {
	o.n++
	return o.FS.Open(name)
}

// A compressed profile is opened once: to recognise the compression and the profile, for its size, to unpack it,
// and to read its events.
func TestProfileIsUnpackedOnce(t *testing.T) {
	files := &opened{FS: fstest.MapFS{"a.pb.gz": {Data: packedProfile(t, 0)}}}
	s := &search{finder: newFinder(Options{})}
	if err := s.file(location{files: files, name: "a.pb.gz"}, true); err != nil || len(s.processes) != 1 || files.n != 1 {
		t.Fatalf("%d processes, the file opened %d times, error %v; want 1, once", len(s.processes), files.n, err)
	}
	file, tables := s.processes[0].foreign.file, new(stream.Tables)
	tables.Processes = file.Processes()
	var text bytes.Buffer
	err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), file.Source(tables, []stream.ProcessID{1}, 0), stream.CopyOptions{})
	if err != nil || files.n != 1 || strings.Count(text.String(), "weight 2 ") != 1 {
		t.Errorf("opened %d times, want once; error %v; events:\n%s", files.n, err, &text)
	}
}

// Profiles and recordings are one run: filters by name and time know both.
func TestProfilesBesideRecordings(t *testing.T) {
	dir := t.TempDir()
	if _, err := corpus.Write(filepath.Join(dir, "session"), corpus.Options{Processes: 2, Samples: 200, Stacks: 20, Writers: 1, ChunkFile: 64 << 10}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		writeFile(t, dir, fmt.Sprint("pile/", i), packedProfile(t, i))
	}
	found, err := Find([]string{dir}, Options{})
	if err != nil || len(found.Processes) != 5 {
		t.Fatal(len(found.Processes), err)
	}
	defer found.Close()
	const second = 1_795_000_001_000_000_000
	src, err := found.Select(Selection{From: second, To: second + 1e9})
	if err != nil {
		t.Fatal(err)
	}
	var count stream.Count
	if err := stream.Copy(&count, src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	sum := count.Sum(func(s stream.Series) bool { return s.Kind == stream.Samples })
	if sum.Samples != 3 || sum.First < second || sum.Last >= second+1e9 {
		t.Errorf("%+v, want 3 samples of the second profile", sum)
	}
}

// The intact part of a profile that is cut is used, with a warning. Files that
// are no profile are passed over, unless they were named.
func TestProfilesDamaged(t *testing.T) {
	dir := t.TempDir()
	whole := rawProfile(t, 0)
	writeFile(t, dir, "cut.pprof", append(bytes.Clone(whole), 0x12))
	packed := packedProfile(t, 1)
	writeFile(t, dir, "torn.pb.gz", packed[:len(packed)-1])
	writeFile(t, dir, "sum.pb.gz", append(bytes.Clone(packedProfile(t, 2)[:len(packed)-8]), 1, 2, 3, 4, 5, 6, 7, 8))
	nothing := writeFile(t, dir, "nothing", []byte{0x0a, 4, 8, 1, 16, 2})
	var text bytes.Buffer
	w := gzip.NewWriter(&text)
	fmt.Fprint(w, "heap profile: 1: 2 [3: 4] @ heap/1\n")
	w.Close()
	old := writeFile(t, dir, "old.txt.gz", text.Bytes())
	found, err := Find([]string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	if len(found.Processes) != 3 || len(found.Warnings) != 4 {
		t.Errorf("%d processes, want 3; warnings %v, want 4", len(found.Processes), found.Warnings)
	}
	for _, want := range []error{damage.ErrTorn, archive.ErrTorn, archive.ErrDamaged} {
		if !slices.ContainsFunc(found.Warnings, func(w *Warning) bool { return errors.Is(w, want) }) {
			t.Errorf("no warning %v in %v", want, found.Warnings)
		}
	}
	if _, err := Find([]string{nothing}, Options{}); !errors.Is(err, ErrForeign) || !errors.Is(err, pprof.ErrProfile) {
		t.Error(err)
	}
	if _, err := Find([]string{old}, Options{}); err == nil || !strings.Contains(err.Error(), "go tool pprof -proto") {
		t.Error(err)
	}
}
