package rt

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"testing"
)

// Files of the kernel are read to their end, also those longer than the first piece.
func TestReadKernel(t *testing.T) {
	long := false
	for _, path := range []string{"/proc/self/cgroup", "/proc/self/limits", "/proc/filesystems"} {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadKernel(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", path, got, err, want)
		}
		long = long || len(want) > 1024
	}
	if !long {
		t.Error("no file needs a second piece")
	}
	if _, err := ReadKernel("/proc/self/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := ReadKernel("/proc/self"); err == nil {
		t.Error("a directory can be read")
	}
}
