package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestGroups(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"a/shop/0000000000000001/meta", "a/shop/0000000000000002/chunk-00000", "a/shop/notes.tar",
		"b/0000000000000003/dict-001", "b/0000000000000003/chunk-00000",
		"c/old.tar.gz", "c/new.gprof", "c/readme.txt", "c/profile.json.gz", "c/.hidden.tar", "c/empty/x",
		"out/d.tar", ".cache/e.tar", "f.zip", "f/g.tgz",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	skip := func(path string) bool { return path == filepath.Join(dir, "out") }
	want := []string{"a/shop", "b", "c/new.gprof", "c/old.tar.gz", "f/g.tgz", "f.zip"}
	var got []string
	for _, path := range Groups(dir, skip) {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	for _, alone := range []string{"a/shop", "b/0000000000000003", "missing"} {
		path := filepath.Join(dir, filepath.FromSlash(alone))
		if got := Groups(path, skip); !slices.Equal(got, []string{path}) {
			t.Errorf("%s: found %v", alone, got)
		}
	}
}

// Links in a circle do not make the search endless.
func TestGroupsLoop(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"again", "and again"} {
		if err := os.Symlink(".", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a.tar"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := len(Groups(dir, func(string) bool { return false })); n != 1 {
		t.Errorf("one archive is listed %d times", n)
	}
}
