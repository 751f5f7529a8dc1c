//go:build unix

package recorder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"gprof/chunks/folder"
)

// modes of all that lies under dir, by path in it.
func modes(t *testing.T, dir string) map[string]os.FileMode {
	t.Helper()
	found := map[string]os.FileMode{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err == nil {
			found[path[len(dir)+1:]] = info.Mode()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// With GroupAccess the group reads and writes all of a session, and passes
// what had to be made above it; without, nobody else sees anything.
func TestGroupAccess(t *testing.T) {
	clearEnvironment(t)
	defer syscall.Umask(syscall.Umask(0o077))
	for _, group := range []bool{false, true} {
		dir := t.TempDir()
		for range 2 { // the second time all of it exists
			r, err := Start(Options{Dir: filepath.Join(dir, "above"), Service: "s", Limit: 1 << 20, GroupAccess: group})
			if err != nil {
				t.Fatal(err)
			}
			live := modes(t, dir)
			for deadline := time.Now().Add(time.Minute); wrongMode(live, group) != "" && time.Now().Before(deadline); {
				live = modes(t, dir) // a chunk that is being made is its owner's alone at first
			}
			if err := r.Stop(); err != nil {
				t.Fatal(err)
			}
			checkModes(t, live, group)
			checkModes(t, modes(t, dir), group)
		}
	}
}

func checkModes(t *testing.T, found map[string]os.FileMode, group bool) {
	t.Helper()
	if len(found) < 6 {
		t.Errorf("only %v", found)
	}
	if wrong := wrongMode(found, group); wrong != "" {
		t.Errorf("group %v: %s", group, wrong)
	}
}

// wrongMode says which mode is not what it should be, "" if all are.
func wrongMode(found map[string]os.FileMode, group bool) string {
	for path, mode := range found {
		want := os.FileMode(0o600)
		switch {
		case mode.IsDir() && path == "above" && group:
			want = os.ModeDir | os.ModeSetgid | 0o750
		case mode.IsDir() && group:
			want = os.ModeDir | os.ModeSetgid | 0o770
		case mode.IsDir():
			want = os.ModeDir | 0o700
		case group:
			want = 0o660
		}
		if mode != want {
			return fmt.Sprintf("%s has %v, want %v", path, mode, want)
		}
	}
	return ""
}

// A session from before GroupAccess was asked for is opened, and its control
// page.
func TestGroupAccessComesLater(t *testing.T) {
	clearEnvironment(t)
	dir := t.TempDir()
	for _, group := range []bool{false, true} {
		r, err := Start(Options{Dir: dir, Service: "s", Limit: 1 << 20, GroupAccess: group})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	found := modes(t, dir)
	if found["s"].Perm() != 0o770 || found["s/control"].Perm() != 0o660 {
		t.Errorf("%v", found)
	}
}

func TestMakeDirFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if err := makeDir(dir, groupMode); err == nil {
			t.Errorf("%s was made", dir)
		}
	}
}

// Start follows no link to where its session would lie, and says what to do.
func TestStartRefusesLinks(t *testing.T) {
	clearEnvironment(t)
	dir, victim := t.TempDir(), t.TempDir()
	if err := os.Symlink(victim, filepath.Join(dir, "s")); err != nil {
		t.Fatal(err)
	}
	_, err := Start(Options{Dir: dir, Service: "s", Limit: 1 << 20})
	if !errors.Is(err, folder.ErrForeign) || !strings.Contains(err.Error(), "remove it, or give") {
		t.Errorf("error %v", err)
	}
	if entries, _ := os.ReadDir(victim); len(entries) > 0 {
		t.Errorf("%v was made", entries)
	}
}

// A control page that anybody can write is not recorded with.
func TestStartRefusesControlOfAll(t *testing.T) {
	clearEnvironment(t)
	dir := t.TempDir()
	for _, mode := range []os.FileMode{0o600, 0o666} {
		r, err := Start(Options{Dir: dir, Service: "s", Limit: 1 << 20})
		if (err == nil) != (mode == 0o600) || err != nil && !errors.Is(err, folder.ErrForeign) {
			t.Fatalf("error %v", err)
		}
		r.Stop() // nil after the second
		if err := os.Chmod(filepath.Join(dir, "s", "control"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Of our directory in shared memory it is looked at what was opened: somebody else may
// have made it since it was chosen.
func TestCheckShared(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		make func(path string) error
		ok   bool
	}{
		"ours":        {func(path string) error { return os.Mkdir(path, 0o700) }, true},
		"open to all": {func(path string) error { return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o777)) }, false},
		"a link":      {func(path string) error { return os.Symlink(dir, path) }, false},
	} {
		path := filepath.Join(dir, name)
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		if err := checkShared(path); runtime.GOOS == "linux" && (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
