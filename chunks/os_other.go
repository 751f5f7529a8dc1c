//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package chunks

import (
	"errors"
	"os"
)

const openCarefully = 0

// openFile opens a file; one that is made is its owner's.
func openFile(path string, flags int) (*os.File, error) { return os.OpenFile(path, flags, 0o600) }

func removeDir(path string) error { return os.Remove(path) }

func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func remapFile(*os.File, []byte) error { return errors.ErrUnsupported }

func unmapFile([]byte) error { return errors.ErrUnsupported }

func lockFile(*os.File, bool) error { return errors.ErrUnsupported }

func unlockFile(*os.File) error { return errors.ErrUnsupported }
