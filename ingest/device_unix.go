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
