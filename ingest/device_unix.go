//go:build unix

package ingest

import (
	"io/fs"
	"syscall"
)

// device tells mounts apart.
func device(info fs.FileInfo) (id uint64, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(s.Dev), true
}

// openCarefully are flags for opening a file: a link is an error, and a pipe has nothing to read.
const openCarefully = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
