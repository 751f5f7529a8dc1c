package ring

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

// Bytes that are stored through the mapping are in the file at once.
func TestFolder(t *testing.T) {
	d := folder.Dir(t.TempDir())
	c, err := makeChunk(d.Map, "chunk-00000", testFile)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(string(d), "chunk-00000")
	c.Payload()[testCapacity-1] = 'x'
	data, err := os.ReadFile(path)
	if err != nil || len(data) != testFile || data[rawformat.HeadSize+testCapacity-1] != 'x' || bytes.Count(data, []byte{'x'}) != 1 {
		t.Errorf("%v; file of %d bytes", err, len(data))
	}
	if h, _, err := rawformat.ReadHeader(data); err != nil || h.Epoch != 0 {
		t.Errorf("%+v, %v", h, err)
	}
	if _, err := d.Map("chunk-00000", testFile); !errors.Is(err, os.ErrExist) {
		t.Errorf("a file twice: %v", err)
	}
	if err := errors.Join(c.unmap(), d.Remove("chunk-00000")); err != nil || c.Payload() != nil {
		t.Error(err)
	}
}

// Nothing is left of a file that could not be made.
func TestFolderFails(t *testing.T) {
	d := folder.Dir(t.TempDir())
	if _, err := d.Map("chunk-00000", -1); err == nil || countFiles(t, string(d)) != 0 {
		t.Errorf("error %v, %d files", err, countFiles(t, string(d)))
	}
	if _, err := Open(folder.Dir(filepath.Join(string(d), "missing")), testOptions(2)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
