//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package folder

import (
	"errors"
	"os"
)

// OpenCarefully is a flag of [OpenFile] that has no effect here.
const OpenCarefully = 0

// OpenFile opens a file. A new one is for its owner only.
func OpenFile(path string, flags int) (*os.File, error) { return os.OpenFile(path, flags, 0o600) }

// RemoveDir removes an empty directory.
func RemoveDir(path string) error { return os.Remove(path) }

// TryLock fails: there are no locks here.
func TryLock(*os.File, bool) error { return errors.ErrUnsupported }

// Unlock fails as well.
func Unlock(*os.File) error { return errors.ErrUnsupported }
