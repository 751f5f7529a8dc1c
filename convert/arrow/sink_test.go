package arrow

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/convert/internal/tables"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// joined is a directory whose files are written to one Writer as they end, each
// behind its name.
type joined struct{ w io.Writer }

type joinedFile struct {
	bytes.Buffer
	name string
	to   io.Writer
}

func (j joined) Create(name string) (io.WriteCloser, error) {
	return &joinedFile{name: name, to: j.w}, nil
}

func (f *joinedFile) Close() error {
	_, err := fmt.Fprintf(f.to, "%s %d\n%s", f.name, f.Len(), f.Bytes())
	return err
}

func TestSink(t *testing.T) {
	streamtest.TestSink(t, func(w io.Writer) stream.Sink { return New(joined{w}, tables.Options{}) }, nil)
}

// onDisk is a directory of the file system.
type onDisk string

func (d onDisk) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
}

// convert writes the events of src to a new directory, and returns it with what
// went through.
func convert(t *testing.T, src stream.Source, c tables.Compression) (string, *stream.Count) {
	t.Helper()
	dir, count := t.TempDir(), new(stream.Count)
	if err := stream.Copy(stream.Tee(New(onDisk(dir), tables.Options{Compression: c}), count), src, stream.CopyOptions{}); err != nil {
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
