//go:build unix

package kept

import (
	"io/fs"
	"syscall"
)

// taken is how many bytes a file takes on the disk.
func taken(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512 // whatever the blocks of the file system are
	}
	return info.Size()
}
