package chunks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// claim takes the lock of an instance whose owner is dead: the error is
// [ErrLocked] if it isn't, [fs.ErrNotExist] if its directory is gone.
func claim(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	f, err := openLock(path)
	if errors.Is(err, fs.ErrNotExist) {
		return claimLost(dir)
	}
	if err != nil {
		return nil, err
	}
	if err = lockFile(f, false); err == nil {
		err = sameFile(f, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// claimLost claims a directory without a lock file: nobody can tell whether the
// owner lives, not even itself.
func claimLost(dir string) (*os.File, error) {
	f, err := Lock(dir)
	if errors.Is(err, fs.ErrExist) {
		err = ErrLocked // it is being locked now
	}
	return f, err
}

// sameFile is nil if path names f: another process may have removed it between
// our opening and our locking it.
func sameFile(f *os.File, path string) error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(path)
	if err == nil && !os.SameFile(mine, now) {
		err = fs.ErrNotExist
	}
	return err
}
