package ingest

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/ingest/archive"
)

// An input that finds no room to be unpacked is not called damaged.
func TestNoRoomToUnpack(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "profile.json.gz")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(`{"meta":{"version":27},"threads":[]}`)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = Find([]string{name}, Options{TempDir: filepath.Join(dir, "absent")})
	if !errors.Is(err, archive.ErrSpool) || strings.Contains(err.Error(), "cut short") {
		t.Errorf("error %v", err)
	}
}
