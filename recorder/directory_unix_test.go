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

// modes returns the modes of all files below dir, by path.
func modes(t *testing.T, dir string) map[string]os.FileMode {
	t.Helper()
	found := map[string]os.FileMode{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a thread has ended, or a file has got another name, since it was listed
		}
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

// With GroupAccess the group can read and write all of a session, and pass the directories
// that were made above it. Without it nobody else sees anything.
func TestGroupAccess(t *testing.T) {
	clearEnvironment(t)
	defer syscall.Umask(syscall.Umask(0o077))
	for _, group := range []bool{false, true} {
		dir := t.TempDir()
		for range 2 { // the second time everything exists
			r, err := Start(Options{Dir: filepath.Join(dir, "above"), Service: "s", Limit: 1 << 20, GroupAccess: group})
			if err != nil {
				t.Fatal(err)
			}
			live := modes(t, dir)
			for deadline := time.Now().Add(time.Minute); wrongMode(live, group) != "" && time.Now().Before(deadline); {
				live = modes(t, dir) // a chunk is private while it is being made
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

// wrongMode names a file whose mode is wrong, "" if there is none.
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

// GroupAccess opens a session that was made without it, and its control page.
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

// Start does not follow a link to the place of its session, and says what to do.
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

// Start refuses a control page that anybody can write.
func TestStartRefusesControlOfAll(t *testing.T) {
	clearEnvironment(t)
	dir := t.TempDir()
	for _, mode := range []os.FileMode{0o600, 0o666} {
		r, err := Start(Options{Dir: dir, Service: "s", Limit: 1 << 20})
		if (err == nil) != (mode == 0o600) || err != nil && !errors.Is(err, folder.ErrForeign) {
			t.Fatalf("error %v", err)
		}
		r.Stop() // it is nil after the second Start
		if err := os.Chmod(filepath.Join(dir, "s", "control"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The check of our directory in shared memory looks at the opened directory, because somebody
// else may have made it since it was chosen.
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
