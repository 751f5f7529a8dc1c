//go:build unix

package chunks

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

const stranger = 4711 // some other user

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
			if c, err := OpenControl(session, ControlOptions{}); err == nil || name != "a link" && !errors.Is(err, folder.ErrForeign) {
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
	must(t, folder.MakeSession(session, 0o700))
	must(t, folder.MakeInstance(dir, 0o700))
	r, err := OpenRing(folder.Dir(dir), testOptions(3))
	if err != nil {
		t.Skip(err)
	}
	dict, err := CreateDict(folder.Dir(dir), 1, 1, 1)
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
		"chunk":   func() error { _, err := folder.Dir(dir).Map("chunk-00009", testFile); return err },
		"shorten": func() error { return folder.Dir(dir).Truncate("chunk-00000", 0) },
		"remove":  func() error { return folder.Dir(dir).Remove("chunk-00000") },
		"meta":    func() error { return WriteRecords(folder.Dir(dir), "meta", header) },
		"dict":    func() error { _, err := CreateDict(folder.Dir(dir), 1, 2, 1); return err },
		"undict":  func() error { return RemoveDict(folder.Dir(dir), 1) },
		"stacks":  func() error { _, err := CreateStacks(folder.Dir(dir), rawformat.StacksHeader{Tid: 7}); return err },
		"lock":    func() error { _, err := Lock(dir); return err },
		"erase":   func() error { return erase(dir) },
	} {
		if err := try(); !errors.Is(err, folder.ErrForeign) {
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
