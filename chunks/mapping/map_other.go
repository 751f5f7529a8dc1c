//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package mapping

import (
	"errors"
	"os"
)

// MapFile fails: files cannot be mapped here.
func MapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// RemapFile fails as well.
func RemapFile(*os.File, []byte) error { return errors.ErrUnsupported }

// UnmapFile fails as well.
func UnmapFile([]byte) error { return errors.ErrUnsupported }

func anonymous(size int) ([]byte, error) { return heapMemory(size) }

func releaseAnonymous([]byte) error { return nil }
