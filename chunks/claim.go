package chunks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gprof/chunks/folder"
)

// claim takes the lock of an instance whose owner is dead: the error is
// [folder.ErrLocked] if it isn't, [fs.ErrNotExist] if its directory is gone. Where
// somebody removed the lock alone, nobody can tell: the owner counts as alive.
func claim(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	f, err := openLock(path)
	if errors.Is(err, fs.ErrNotExist) && goes(dir) {
		return nil, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, folder.ErrLocked
	}
	if err != nil {
		return nil, err
	}
	if err = folder.TryLock(f, false); err == nil {
		err = sameFile(f, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// claimDead is claim of a directory whose owner is known to be dead, which need
// not have a lock.
func claimDead(dir string) (*os.File, error) {
	if _, err := os.Lstat(filepath.Join(dir, lockName)); !errors.Is(err, fs.ErrNotExist) {
		return claim(dir)
	}
	if goes(dir) {
		return nil, fs.ErrNotExist
	}
	f, err := Lock(dir)
	if errors.Is(err, fs.ErrExist) {
		return finishLock(filepath.Join(dir, lockName))
	}
	return f, err
}

// finishLock goes on with a lock file that has no name yet: who made it was killed
// before it could give it one. Else the error is [folder.ErrLocked].
func finishLock(path string) (*os.File, error) {
	f, err := openLock(path + newSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, folder.ErrLocked // somebody else was quicker
	}
	if err != nil {
		return nil, err
	}
	if err = folder.TryLock(f, false); err == nil {
		err = sameFile(f, f.Name())
	}
	if err == nil {
		err = folder.RenameFile(f.Name(), path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = folder.ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// goes reports whether an instance directory without a lock is gone. One that is
// empty goes now: who removed all else was killed before it could do that.
func goes(dir string) bool {
	if folder.RemoveDir(dir) == nil {
		return true
	}
	_, err := os.Lstat(dir)
	return errors.Is(err, fs.ErrNotExist)
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
