//go:build unix

package output

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// contentsOf reads all files below a directory.
func contentsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if name == "." {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			data = []byte("directory")
		}
		all[name] = string(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tables are the kind of the directories here.
var tables = Tables{Format: "tables", Stamp: "stamp", StampText: "tables of version 1", Last: "complete"}

// begun begins two files and directories, one of each new.
func begun(t *testing.T, set *Set, dir string) (all []Product) {
	t.Helper()
	for _, name := range []string{"old.json", "new.json"} {
		out, err := set.Create(filepath.Join(dir, name), false, Anybody)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(out, "written")
		all = append(all, out)
	}
	for i, name := range []string{"old", "new", "replaced"} {
		out, err := set.CreateDirectory(filepath.Join(dir, name), DirectoryOptions{Tables: tables, Replace: i == 2, Room: dir, Inputs: Anybody})
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

// before makes the files that exist already.
func before(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{"old.json": "before", "old/" + tables.Stamp: tables.StampText, "old/d.parquet": "before",
		"replaced/" + tables.Stamp: tables.StampText, "replaced/x.parquet": "before"} {
		name := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// failingProduct is a product that can't be placed.
type failingProduct struct{ Product }

func (failingProduct) place(*placing) error { return os.ErrPermission }

// Either all products get their names, or everything stays as it was, whichever
// of them fails.
func TestPlacing(t *testing.T) {
	for at := range 6 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			dir, set := t.TempDir(), &Set{}
			before(t, dir)
			was := contentsOf(t, dir)
			all := begun(t, set, dir)
			if at < len(all) {
				all[at] = failingProduct{all[at]}
			}
			err := set.Commit(all...)
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
			if err != nil || len(now) != 11 || now["replaced/x.parquet"] != "" {
				t.Errorf("%v; besides there is %v", err, now)
			}
		})
	}
}
