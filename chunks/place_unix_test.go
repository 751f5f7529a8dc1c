//go:build unix

package chunks

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gprof/rawformat"
)

const stranger = 4711 // some other user

// asStranger gives a path to another user, if this one may.
func asStranger(t *testing.T, path string) {
	t.Helper()
	if err := os.Lchown(path, stranger, stranger); err != nil {
		t.Skipf("not allowed to: %v", err)
	}
}

// wantEmpty fails if anything was made in a directory.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%s holds %v, %v", dir, entries, err)
	}
}

// A directory that another user could change is refused as a session, and so is a link.
func TestMakeSessionRefuses(t *testing.T) {
	link := func(t *testing.T, from, to string) { must(t, os.Symlink(from, to)) }
	for name, prepare := range map[string]func(t *testing.T, above, session, victim string){
		"a link":            func(t *testing.T, _, session, victim string) { link(t, victim, session) },
		"a stranger's link": func(t *testing.T, _, session, victim string) { link(t, victim, session); asStranger(t, session) },
		"a stranger's":      func(t *testing.T, _, session, _ string) { must(t, os.Mkdir(session, 0o755)); asStranger(t, session) },
		"open to all": func(t *testing.T, _, session, _ string) {
			must(t, errors.Join(os.Mkdir(session, 0o700), os.Chmod(session, 0o777)))
		},
		"below one's own link": nil,
		"below a stranger's link": func(t *testing.T, above, _, victim string) {
			must(t, os.Remove(above))
			link(t, victim, above)
			asStranger(t, above)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			above, victim := filepath.Join(dir, "above"), filepath.Join(dir, "victim")
			session := filepath.Join(above, "s")
			must(t, errors.Join(os.Mkdir(above, 0o700), os.Mkdir(victim, 0o700)))
			if prepare == nil {
				must(t, os.Remove(above))
				link(t, victim, above)
				must(t, MakeSession(session, 0o700))
				return
			}
			prepare(t, above, session, victim)
			if err := MakeSession(session, 0o700); !errors.Is(err, ErrForeign) {
				t.Errorf("error %v", err)
			}
			if err := MakeInstance(filepath.Join(session, "00000000000000aa"), 0o700); err == nil {
				t.Error("an instance was made")
			}
			wantEmpty(t, victim)
		})
	}
}

// A group shares a session if it was asked for, and only one of ours.
func TestSessionOfGroup(t *testing.T) {
	mine, all := uint32(os.Getegid()), uint32(stranger)
	for _, c := range []struct {
		o     owner
		group bool
		ok    bool
	}{
		{owner{uint32(os.Geteuid()), all, 0o770}, false, true},
		{owner{stranger, mine, 0o770}, true, true},
		{owner{stranger, mine, 0o770}, false, false},
		{owner{stranger, mine, 0o750}, true, false},
		{owner{stranger, all, 0o770}, true, false},
		{owner{stranger, mine, 0o777}, true, false},
		{owner{0, 0, 0o755}, false, true},
	} {
		if err := c.o.refuseSession("s", c.group); (err == nil) != c.ok {
			t.Errorf("%+v, group %v: %v", c.o, c.group, err)
		}
	}
}

// A control page that others can write is not taken, wherever it comes from.
func TestControlOfOthers(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"open to all":  func(path string) error { return os.Chmod(path, 0o666) },
		"a stranger's": func(path string) error { return os.Lchown(path, stranger, stranger) },
		"a link": func(path string) error {
			return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			session := t.TempDir()
			c, err := OpenControl(session, ControlOptions{})
			if err != nil {
				t.Skip(err)
			}
			must(t, c.Close())
			if err := spoil(filepath.Join(session, controlName)); err != nil {
				t.Skip(err)
			}
			if c, err := OpenControl(session, ControlOptions{}); err == nil || name != "a link" && !errors.Is(err, ErrForeign) {
				t.Errorf("opened: %v", err)
				c.Close()
			}
		})
	}
}

// Somebody puts a link in the place of a session that is being recorded. Nothing is
// made, written or removed where it leads.
func TestSessionBecomesLink(t *testing.T) {
	above := t.TempDir()
	session, victim := filepath.Join(above, "s"), filepath.Join(above, "victim")
	const name = "00000000000000aa"
	dir, there := filepath.Join(session, name), filepath.Join(victim, name)
	must(t, MakeSession(session, 0o700))
	must(t, MakeInstance(dir, 0o700))
	r, err := OpenRing(Dir(dir), testOptions(3))
	if err != nil {
		t.Skip(err)
	}
	dict, err := CreateDict(Dir(dir), 1, 1, 1)
	must(t, err)
	must(t, dict.Close())
	must(t, os.MkdirAll(there, 0o700))
	precious := []string{"chunk-00000", "chunk-00001", "dict-001", "meta", "stacks-7"}
	for _, name := range precious {
		must(t, os.WriteFile(filepath.Join(there, name), []byte("precious"), 0o600))
	}
	must(t, errors.Join(os.Rename(session, session+"2"), os.Symlink(victim, session)))
	header := rawformat.RecordHeader{Magic: rawformat.MagicMeta}
	for what, try := range map[string]func() error{
		"chunk":   func() error { _, err := Dir(dir).Map("chunk-00009", testFile); return err },
		"shorten": func() error { return Dir(dir).Truncate("chunk-00000", 0) },
		"remove":  func() error { return Dir(dir).Remove("chunk-00000") },
		"meta":    func() error { return WriteRecords(Dir(dir), "meta", header) },
		"dict":    func() error { _, err := CreateDict(Dir(dir), 1, 2, 1); return err },
		"undict":  func() error { return RemoveDict(Dir(dir), 1) },
		"stacks":  func() error { _, err := CreateStacks(Dir(dir), rawformat.StacksHeader{Tid: 7}); return err },
		"lock":    func() error { _, err := Lock(dir); return err },
		"erase":   func() error { return erase(dir) },
	} {
		if err := try(); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v", what, err)
		}
	}
	r.Close() // it may complain
	entries, err := os.ReadDir(there)
	if err != nil || len(entries) != len(precious) {
		t.Errorf("%d files where the link leads, want %d; %v", len(entries), len(precious), err)
	}
	for _, name := range precious {
		if b, err := os.ReadFile(filepath.Join(there, name)); string(b) != "precious" {
			t.Errorf("%s is now %q, %v", name, b, err)
		}
	}
}
