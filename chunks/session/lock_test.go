package session

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
)

func TestLock(t *testing.T) {
	dir := t.TempDir()
	if Alive(dir) {
		t.Error("alive without a lock")
	}
	f, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !Alive(dir) || f.Name() == "" || countFiles(t, dir) != 1 {
		t.Errorf("alive %v, %d files", Alive(dir), countFiles(t, dir))
	}
	if _, err := Lock(dir); !errors.Is(err, folder.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var ask sync.WaitGroup
	for range 4 { // those who ask are not in each other's way
		ask.Go(func() {
			for range 100 {
				if Alive(dir) {
					t.Error("alive when closed")
				}
			}
		})
	}
	ask.Wait()
	if _, err := Lock(dir); !errors.Is(err, folder.ErrLocked) {
		t.Errorf("a directory that had an owner: %v", err)
	}
}

func TestLockFails(t *testing.T) {
	dir := t.TempDir()
	if _, err := Lock(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, chunks.LockName+chunks.NewSuffix), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, os.ErrExist) || countFiles(t, dir) != 1 {
		t.Errorf("error %v, %d files", err, countFiles(t, dir))
	}
}
