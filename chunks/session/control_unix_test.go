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
	spoiled := map[string]func(path string) error{
		"open to all": func(path string) error { return os.Chmod(path, 0o666) },
		"a link": func(path string) error {
			return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		},
	}
	if os.Geteuid() == 0 { // only root gives files away
		spoiled["a stranger's"] = func(path string) error { return os.Lchown(path, stranger, stranger) }
	}
	for name, spoil := range spoiled {
		t.Run(name, func(t *testing.T) {
			session := t.TempDir()
			c, err := Open(session, Options{})
			must(t, err)
			must(t, c.Close())
			must(t, spoil(filepath.Join(session, chunks.ControlName)))
			if c, err := Open(session, Options{}); err == nil || name != "a link" && !errors.Is(err, folder.ErrForeign) {
				t.Errorf("opened: %v", err)
				c.Close()
			}
		})
	}
}
