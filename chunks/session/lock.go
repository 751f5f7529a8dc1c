package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gprof/chunks"
	"gprof/chunks/folder"
)

// Lock claims an instance directory for this process: dir/lock is locked until the file
// is closed or the process dies, however it dies. The error is [folder.ErrLocked] if the
// directory has, or had, an owner.
//
// The file gets its name once it is locked, so a live owner's file is never seen
// unlocked.
func Lock(dir string) (*os.File, error) {
	path := filepath.Join(dir, chunks.LockName)
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s: %w", path, folder.ErrLocked)
	}
	f, err := folder.Create(path + chunks.NewSuffix)
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

// Alive reports whether the owner of an instance directory holds its lock. If that
// cannot be found out, the owner counts as alive, which does the least harm.
func Alive(dir string) bool {
	f, err := openLock(filepath.Join(dir, chunks.LockName))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	return folder.TryLock(f, true) != nil
}

// openLock opens a lock file. A pipe in its place does not block it.
func openLock(path string) (*os.File, error) {
	return folder.OpenFile(path, os.O_RDONLY|folder.OpenCarefully)
}

// claim takes the lock of an instance whose owner is dead. The error is
// [folder.ErrLocked] if it is alive, [fs.ErrNotExist] if its directory is gone. If just
// the lock was removed, nobody can tell, and the owner counts as alive.
func claim(dir string) (*os.File, error) {
	path := filepath.Join(dir, chunks.LockName)
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

// claimDead is claim for a directory whose owner is known to be dead, and which may have
// no lock.
func claimDead(dir string) (*os.File, error) {
	if _, err := os.Lstat(filepath.Join(dir, chunks.LockName)); !errors.Is(err, fs.ErrNotExist) {
		return claim(dir)
	}
	if goes(dir) {
		return nil, fs.ErrNotExist
	}
	f, err := Lock(dir)
	if errors.Is(err, fs.ErrExist) {
		return finishLock(filepath.Join(dir, chunks.LockName))
	}
	return f, err
}

// finishLock takes over a lock file whose maker was killed before it could give the file
// its name. The error is [folder.ErrLocked] if there is none.
func finishLock(path string) (*os.File, error) {
	f, err := openLock(path + chunks.NewSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, folder.ErrLocked // another process was quicker
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

// goes reports whether an instance directory without a lock is gone. An empty one is
// removed now: a process was killed after it had removed all else.
func goes(dir string) bool {
	if folder.RemoveDir(dir) == nil {
		return true
	}
	_, err := os.Lstat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// sameFile returns nil if path still names f: another process may have removed it before
// we locked it.
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
