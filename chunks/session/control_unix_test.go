//go:build unix

package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
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
			c, err := Open(session, Options{})
			if err != nil {
				t.Skip(err)
			}
			must(t, c.Close())
			if err := spoil(filepath.Join(session, chunks.ControlName)); err != nil {
				t.Skip(err)
			}
			if c, err := Open(session, Options{}); err == nil || name != "a link" && !errors.Is(err, folder.ErrForeign) {
				t.Errorf("opened: %v", err)
				c.Close()
			}
		})
	}
}
