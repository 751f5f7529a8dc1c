//go:build unix

package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// A session that is being recorded is replaced by a link. Nothing is made, written or
// removed where the link leads.
func TestSessionBecomesLink(t *testing.T) {
	above := t.TempDir()
	root, victim := filepath.Join(above, "s"), filepath.Join(above, "victim")
	const name = "00000000000000aa"
	dir, there := filepath.Join(root, name), filepath.Join(victim, name)
	must(t, folder.MakeSession(root, 0o700))
	must(t, folder.MakeInstance(dir, 0o700))
	r, err := ring.Open(folder.Dir(dir), ring.Options{ChunkFile: testFile, Limit: 3 * testFile})
	must(t, err)
	dict, err := chunks.CreateDict(folder.Dir(dir), 1, 1, 1)
	must(t, err)
	must(t, dict.Close())
	must(t, os.MkdirAll(there, 0o700))
	precious := []string{"chunk-00000", "chunk-00001", "dict-001", "meta", "stacks-7"}
	for _, name := range precious {
		must(t, os.WriteFile(filepath.Join(there, name), []byte("precious"), 0o600))
	}
	must(t, errors.Join(os.Rename(root, root+"2"), os.Symlink(victim, root)))
	header := rawformat.RecordHeader{Magic: rawformat.MagicMeta}
	for what, try := range map[string]func() error{
		"chunk":   func() error { _, err := folder.Dir(dir).Map("chunk-00009", testFile); return err },
		"shorten": func() error { return folder.Dir(dir).Truncate("chunk-00000", 0) },
		"remove":  func() error { return folder.Dir(dir).Remove("chunk-00000") },
		"meta":    func() error { return chunks.WriteRecords(folder.Dir(dir), "meta", header) },
		"dict":    func() error { _, err := chunks.CreateDict(folder.Dir(dir), 1, 2, 1); return err },
		"undict":  func() error { return chunks.RemoveDict(folder.Dir(dir), 1) },
		"stacks": func() error {
			_, err := chunks.CreateStacks(folder.Dir(dir), rawformat.StacksHeader{Tid: 7})
			return err
		},
		"lock":  func() error { _, err := session.Lock(dir); return err },
		"erase": func() error { return session.Erase(dir) },
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
