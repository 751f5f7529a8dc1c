package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file of a directory appears whole, once, and leaves nothing of attempts that failed.
func TestStreamToDirectory(t *testing.T) {
	dir := t.TempDir()
	p, err := new(Stores).Place(dir, ".unfinished", "")
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			if _, missing := p.Size("a/b"); !errors.Is(missing, fs.ErrNotExist) && text == "first" {
				t.Error("it is there before it is whole")
			}
			return err
		}
	}
	broken := errors.New("broken")
	if err := p.Stream(t.Context(), "a/b", func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stream(ended, "a/b", write("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if err := p.Stream(t.Context(), "a/b", write("first")); err != nil {
		t.Fatal(err)
	}
	if err := p.Stream(t.Context(), "a/b", write("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: %v", err)
	}
	text, err := os.ReadFile(p.Path("a/b"))
	info, err2 := os.Stat(p.Path("a/b"))
	if err != nil || err2 != nil || string(text) != "first" || info.Mode() != 0o600 {
		t.Errorf("%q, %v, %v, %v", text, info, err, err2)
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".unfinished")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// What a writer that was killed has left is removed when nobody writes it any more.
func TestStaleStreams(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{".stream-old": 2 * stale, ".stream-new": 0, "other": 2 * stale} {
		file := filepath.Join(dir, name)
		then := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	removeStale(dir)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || left[0].Name() != ".stream-new" || left[1].Name() != "other" {
		t.Errorf("left %v, %v", left, err)
	}
}
