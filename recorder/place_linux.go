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

// freeBytes is how much is free for us in the file system of dir; -1: unknown.
func freeBytes(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return -1
	}
	size := int64(max(1, s.Bsize))
	return int64(min(s.Bavail, math.MaxInt64/uint64(size))) * size
}

// checkFiles is an error if the program may open so few files that those of a recording would be
// missing: at most a quarter is ours.
func checkFiles() error {
	const least = 48 // a recording without counters of the system has nine open, and one more now and then
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur >= least {
		return nil
	}
	return fmt.Errorf("the program may open only %d files at once (RLIMIT_NOFILE), want %d: a recording would take too many of them", limit.Cur, least)
}

// sharedDir is our directory in shared memory, "" if there is none. Everybody may make
// directories there, so one that belongs to somebody else is not used.
func sharedDir() string {
	for _, dir := range sharedDirs() {
		info, err := os.Lstat(dir)
		if os.IsNotExist(err) || err == nil && private(info) {
			return dir
		}
	}
	return ""
}

// sharedDirs lists the places for our directory in shared memory, in order of preference.
func sharedDirs() []string {
	dir := filepath.Join(sharedMemory, "gprof")
	return []string{dir, dir + "-" + strconv.Itoa(os.Geteuid())}
}

func isShared(dir string) bool { return slices.Contains(sharedDirs(), dir) }

// checkShared checks our directory in shared memory, which exists by now, through an open
// file: somebody else may have made it first.
func checkShared(dir string) error {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close() // nothing was written
	info, err := f.Stat()
	if err == nil && !private(info) {
		err = fmt.Errorf("%s: %w: it was made by another user just now; start again", dir, folder.ErrForeign)
	}
	return err
}

// private reports whether only we can write to a directory.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
