//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveFile removes a file.
func RemoveFile(path string) error { return os.Remove(path) }

// RenameFile gives a file another name in its directory.
func RenameFile(from, to string) error { return os.Rename(from, to) }

// makeFile makes a file that does not exist yet, for its owner only, and returns the mode of its directory.
func makeFile(path string) (f *os.File, mode fs.FileMode, err error) {
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, 0, err
	}
	f, err = OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	return f, info.Mode(), err
}

// MakeSession makes the directory of a session, in an existing directory, unless it exists.
func MakeSession(session string, mode fs.FileMode) error {
	err := os.Mkdir(session, mode.Perm())
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(session, mode.Perm()) // an error if it is not a directory
	}
	return err
}

// MakeInstance makes the directory of an instance.
func MakeInstance(dir string, mode fs.FileMode) error { return os.Mkdir(dir, mode.Perm()) }

// CheckSession does nothing here: who may write is not told by the bits of a mode.
func CheckSession(string, bool) error { return nil }

// CheckControl does nothing here, for the same reason.
func CheckControl(*os.File) error { return nil }
