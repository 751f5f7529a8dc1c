package recorder

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"gprof/chunks/folder"
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
	for _, dir := range sharedDirs() {
		info, err := os.Lstat(dir)
		if os.IsNotExist(err) || err == nil && private(info) {
			return dir
		}
	}
	return ""
}

// sharedDirs is where our directory in shared memory may be, in order.
func sharedDirs() []string {
	dir := filepath.Join(sharedMemory, "gprof")
	return []string{dir, dir + "-" + strconv.Itoa(os.Geteuid())}
}

func isShared(dir string) bool { return slices.Contains(sharedDirs(), dir) }

// checkShared opens our directory in shared memory, which exists by now: somebody else
// may have been quicker to make it.
func checkShared(dir string) error {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err == nil && !private(info) {
		err = fmt.Errorf("%s: %w: it was made by another user just now; start again", dir, folder.ErrForeign)
	}
	return err
}

// private reports whether a directory is ours alone to write.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
