package ring

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// Files are as open as their directory, whatever the umask is.
func TestFilesAreAsOpenAsTheirDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("no modes here")
		return
	}
	for dirMode, want := range map[os.FileMode]os.FileMode{0o700: 0o600, 0o755: 0o600, 0o770: 0o660, 0o775: 0o660} {
		dir := filepath.Join(t.TempDir(), "d")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, dirMode); err != nil {
			t.Fatal(err)
		}
		lock, err := session.Lock(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		ring, err := Open(folder.Dir(dir), testOptions(2))
		if err != nil {
			t.Fatal(err)
		}
		dict, err := chunks.CreateDict(folder.Dir(dir), 1, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := chunks.WriteRecords(folder.Dir(dir), "meta", rawformat.RecordHeader{Magic: rawformat.MagicMeta}); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) < 5 {
			t.Fatalf("%v, %v", entries, err)
		}
		for _, e := range entries {
			if info, err := e.Info(); err != nil || info.Mode().Perm() != want {
				t.Errorf("directory %v: %s has %v, want %v", dirMode, e.Name(), info.Mode(), want)
			}
		}
		if err := ring.Close(); err != nil {
			t.Fatal(err)
		}
		if err := dict.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
