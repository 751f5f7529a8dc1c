package streamtest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// OnDisk is a directory of the file system, for sinks of many files. It refuses to write
// a file twice.
type OnDisk string

// Create makes a file and its directories. Elements of the name are separated by slashes.
func (d OnDisk) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
}

// Joined is a directory whose files are written to one Writer when they end, each after
// its name, so that [TestSink] can test sinks of many files.
type Joined struct{ To io.Writer }

type joinedFile struct {
	bytes.Buffer
	name string
	to   io.Writer
}

// Create begins a file, which is kept in memory until it is closed.
func (j Joined) Create(name string) (io.WriteCloser, error) {
	return &joinedFile{name: name, to: j.To}, nil
}

func (f *joinedFile) Close() error {
	_, err := fmt.Fprintf(f.to, "%s %d\n%s", f.name, f.Len(), f.Bytes())
	return err
}
