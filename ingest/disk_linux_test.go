package ingest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gprof/chunks"
)

// Regular files and links to them are opened; what else there may be is not, without waiting for it.
func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "d"), 0o700), os.WriteFile(filepath.Join(dir, "d/file"), []byte("text"), 0o600),
		os.Symlink("file", filepath.Join(dir, "d/link")), os.Symlink(os.DevNull, filepath.Join(dir, "device")), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	files := newDisk(dir)
	for _, name := range []string{"d/file", "d/link"} {
		f, size, err := files.OpenRegular(name)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(f); size != 4 || string(text) != "text" || err != nil {
			t.Errorf("%s: %d bytes, %q, %v", name, size, text, err)
		}
		f.Close()
	}
	for name, want := range map[string]error{
		"d": chunks.ErrNotRegular, "pipe": chunks.ErrNotRegular, "device": chunks.ErrNotRegular,
		"none": fs.ErrNotExist, "../" + filepath.Base(dir) + "/d/file": fs.ErrInvalid,
	} {
		f, _, err := files.OpenRegular(name)
		var at *fs.PathError
		if f != nil || !errors.Is(err, want) || !errors.As(err, &at) || at.Path != name {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
