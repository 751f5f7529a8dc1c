//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package mapping

import (
	"errors"
	"os"
)

// mapFile fails: files cannot be mapped here.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// RemapFile fails as well.
func RemapFile(*os.File, []byte) error { return errors.ErrUnsupported }

// unmapFile fails as well.
func unmapFile([]byte) error { return errors.ErrUnsupported }

func anonymous(size int) ([]byte, error) { return heapMemory(size) }

func releaseAnonymous([]byte) error { return nil }
