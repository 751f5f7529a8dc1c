//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

func RemoveFile(path string) error { return os.Remove(path) }

func RenameFile(from, to string) error { return os.Rename(from, to) }

func parentMode(path string) (fs.FileMode, error) {
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	return info.Mode(), nil
}

// MakeSession makes the directory of a session, in one that exists, unless it is there.
func MakeSession(session string, mode fs.FileMode) error {
	err := os.Mkdir(session, mode.Perm())
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(session, mode.Perm()) // that it is no directory is an error
	}
	return err
}

// MakeInstance makes the directory of an instance.
func MakeInstance(dir string, mode fs.FileMode) error { return os.Mkdir(dir, mode.Perm()) }

// CheckSession is for systems that tell by bits of a mode who may write.
func CheckSession(string, bool) error { return nil }

// CheckControl is for systems that tell by bits of a mode who may write.
func CheckControl(*os.File) error { return nil }
