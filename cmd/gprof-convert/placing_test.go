//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gprof/convert"
)

// contentsOf reads all files below a directory.
func contentsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range tree(t, dir) {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			data = []byte("directory")
		}
		all[rel] = string(data)
	}
	return all
}

// begun begins two files and directories, one of each new.
func begun(t *testing.T, s *streams, dir string) (all []product) {
	t.Helper()
	format, _, err := convert.ByFormat("parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old.json", "new.json"} {
		out, err := s.create(filepath.Join(dir, name), false, anybody)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(out, "written")
		all = append(all, out)
	}
	for i, name := range []string{"old", "new", "replaced"} {
		out, err := s.createDirectory(target{name: filepath.Join(dir, name), format: format}, i == 2, anybody)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"a/b/c.parquet", "d.parquet"} {
			f, err := out.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(f, "written")
		}
		all = append(all, out)
	}
	return all
}

// before makes what is there already.
func before(t *testing.T, dir string) {
	t.Helper()
	format, _, err := convert.ByFormat("parquet")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"old.json": "before", "old/" + format.Stamp: format.StampText, "old/d.parquet": "before",
		"replaced/" + format.Stamp: format.StampText, "replaced/x.parquet": "before"} {
		name := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// failing is a product that can't be placed.
type failing struct{ product }

func (failing) place(*placing) error { return os.ErrPermission }

// All get their names, or whatever was there is as it was, whichever of them
// can't have its own.
func TestPlacing(t *testing.T) {
	for at := range 6 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			dir, s := t.TempDir(), &streams{}
			before(t, dir)
			was := contentsOf(t, dir)
			all := begun(t, s, dir)
			if at < len(all) {
				all[at] = failing{all[at]}
			}
			err := s.unfinished.commit(all...)
			now := contentsOf(t, dir)
			if at < len(all) {
				if err == nil || fmt.Sprint(now) != fmt.Sprint(was) {
					t.Errorf("after %v: %v, before: %v", err, now, was)
				}
				return
			}
			for _, name := range []string{"old.json", "new.json", "old/d.parquet", "old/a/b/c.parquet", "new/d.parquet", "new/a/b/c.parquet", "replaced/a/b/c.parquet"} {
				if now[name] != "written" {
					t.Errorf("%s is %q", name, now[name])
				}
				delete(now, name)
			}
			if err != nil || len(now) != 12 || now["replaced/x.parquet"] != "" {
				t.Errorf("%v; besides there is %v", err, now)
			}
		})
	}
}
