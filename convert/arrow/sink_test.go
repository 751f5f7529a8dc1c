package arrow

import (
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"gprof/convert/internal/tables"
	"gprof/stream"
	"gprof/stream/streamtest"
)

func TestSink(t *testing.T) {
	streamtest.TestSink(t, func(w io.Writer) stream.Sink { return New(streamtest.Joined{To: w}, tables.Options{}) }, nil)
}

// convert writes the events of src to a new directory, and returns it with what
// went through.
func convert(t *testing.T, src stream.Source, c tables.Compression) (string, *stream.Count) {
	t.Helper()
	dir, count := t.TempDir(), new(stream.Count)
	if err := stream.Copy(stream.Tee(New(streamtest.OnDisk(dir), tables.Options{Compression: c}), count), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir, count
}

// filesOf lists the tables' files of a directory.
func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, Extension) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// tableOf is the table of a file.
func tableOf(dir, file string) string {
	rel, _ := filepath.Rel(dir, file)
	name, _, _ := strings.Cut(strings.TrimSuffix(filepath.ToSlash(rel), Extension), "/")
	return name
}
