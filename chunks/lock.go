package chunks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gprof/chunks/folder"
)

// Lock claims an instance directory for this process: dir/lock is locked until
// the file is closed or the process dies, however it dies. The error is
// [folder.ErrLocked] if the directory has, or had, an owner.
//
// The file gets its name when it is locked: nobody ever sees a live owner's
// file without a lock.
func Lock(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s: %w", path, folder.ErrLocked)
	}
	f, err := folder.Create(path + newSuffix)
	if err != nil {
		return nil, err
	}
	err = folder.TryLock(f, false)
	if err == nil {
		err = folder.RenameFile(f.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), folder.RemoveFile(f.Name()))
	}
	return f, nil
}

// Alive reports whether the owner of an instance directory holds its lock. If
// that cannot be found out the owner counts as alive: it costs least.
func Alive(dir string) bool {
	f, err := openLock(filepath.Join(dir, lockName))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	return folder.TryLock(f, true) != nil
}

// openLock opens a lock file, and nothing that somebody put in its place: a
// pipe would block.
func openLock(path string) (*os.File, error) {
	return folder.OpenFile(path, os.O_RDONLY|folder.OpenCarefully)
}
