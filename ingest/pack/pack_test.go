package pack_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"gprof/chunks"
	"gprof/fixtures"
	"gprof/ingest/pack"
	"gprof/rawformat"
)

// recordings are sessions that are kept as text.
func recordings(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("../../fixtures/recordings/*.txtar")
	must(t, err)
	return append(names, "../../fixtures/real.txtar")
}

// build writes a recording to disk and returns its session directory, the one
// above that of a process.
func build(t testing.TB, name string) string {
	t.Helper()
	ar, err := txtar.ParseFile(name)
	must(t, err)
	dir := t.TempDir()
	must(t, fixtures.Build(dir, ar))
	return filepath.Dir(filepath.Dir(filepath.Join(dir, filepath.FromSlash(ar.Files[0].Name))))
}

var le = binary.LittleEndian

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func mapFS(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o600}
	}
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func session(t testing.TB, dir string) []pack.Process {
	t.Helper()
	found, err := pack.Session(dir)
	must(t, err)
	return found
}

func packed(t testing.TB, processes []pack.Process, o pack.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if o.Report == nil {
		o.Report = func(err error) { t.Error(err) }
	}
	sum, err := pack.Write(&b, processes, o)
	must(t, err)
	if sum.Size != int64(b.Len()) {
		t.Errorf("size %d, want %d", sum.Size, b.Len())
	}
	return b.Bytes()
}

func open(t testing.TB, data []byte) *pack.Archive {
	t.Helper()
	a, err := pack.Open(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	return a
}

// processes are those of an archive, as an input to others.
func processes(a *pack.Archive) (all []pack.Process) {
	for _, i := range a.Instances() {
		all = append(all, a.Process(i))
	}
	return all
}

// files are all files of a file system.
func files(t testing.TB, fsys fs.FS) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		all[name] = string(data)
		return err
	}))
	return all
}

// Packed files come back bit for bit: read from the archive, unpacked, and
// packed again.
func TestRoundTrip(t *testing.T) {
	for _, name := range recordings(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			dir := build(t, name)
			for i, p := range session(t, dir) { // what the text twin has no words for
				window := filepath.Join(dir, fmt.Sprintf("%016x", p.Instance), chunks.TraceFile.FileName(uint32(i)))
				must(t, os.WriteFile(window, bytes.Repeat([]byte("trace"), 1000), 0o600))
			}
			want := files(t, os.DirFS(dir))
			data := packed(t, session(t, dir), pack.Options{})
			a := open(t, data)
			var names []string
			for name := range want {
				names = append(names, name)
			}
			must(t, fstest.TestFS(a, names...))
			if len(a.Problems) > 0 {
				t.Error(a.Problems)
			}
			if diff := cmp.Diff(want, files(t, a)); diff != "" {
				t.Error("in the archive:", diff)
			}
			to := t.TempDir()
			for _, p := range processes(a) {
				must(t, pack.Unpack(to, p, func(err error) { t.Error(err) }))
			}
			if diff := cmp.Diff(want, files(t, os.DirFS(to))); diff != "" {
				t.Error("unpacked:", diff)
			}
			if again := packed(t, processes(a), pack.Options{}); !bytes.Equal(again, data) {
				t.Error("packed again it differs")
			}
		})
	}
}

// A file that does not begin as an archive is refused.
func TestNoArchive(t *testing.T) {
	for _, data := range []string{"", "g", "gprX", "gprC instead of an archive"} {
		if _, err := pack.Open(strings.NewReader(data), int64(len(data))); !errors.Is(err, rawformat.ErrMagic) {
			t.Errorf("%q: %v", data, err)
		}
	}
}
