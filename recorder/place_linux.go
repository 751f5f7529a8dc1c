package recorder

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// freeBytes is what is free where dir lies, for us; -1 unknown.
func freeBytes(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return -1
	}
	size := int64(max(1, s.Bsize))
	return int64(min(s.Bavail, math.MaxInt64/uint64(size))) * size
}

// sharedDir is our directory in shared memory. The place is open to everybody:
// a directory that belongs to somebody else is not used.
func sharedDir() string {
	for _, name := range []string{"gprof", "gprof-" + strconv.Itoa(os.Geteuid())} {
		dir := filepath.Join(sharedMemory, name)
		info, err := os.Lstat(dir)
		if os.IsNotExist(err) || err == nil && private(info) {
			return dir
		}
	}
	return ""
}

// private reports whether a directory is ours alone to write.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
