package recorder

import (
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
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

// memoryLimit is the lowest limit of the memory cgroups that this process is
// in, in bytes; 0 none.
func memoryLimit() int64 {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	lowest := int64(0)
	for _, line := range strings.Fields(string(groups)) {
		root, file, group := memoryGroup(line)
		if root == "" {
			continue
		}
		for ; ; group = path.Dir(group) {
			if n := readNumber(path.Join(root, group, file)); n > 0 && (lowest == 0 || n < lowest) {
				lowest = n
			}
			if group == "/" || group == "." {
				break
			}
		}
	}
	return lowest
}

// memoryGroup reads a line of /proc/self/cgroup: "0::/path" of version 2, or
// "7:memory:/path" of version 1.
func memoryGroup(line string) (root, file, group string) {
	_, rest, _ := strings.Cut(line, ":")
	controllers, group, _ := strings.Cut(rest, ":")
	if controllers == "" {
		return "/sys/fs/cgroup", "memory.max", group
	}
	for c := range strings.SplitSeq(controllers, ",") {
		if c == "memory" {
			return "/sys/fs/cgroup/memory", "memory.limit_in_bytes", group
		}
	}
	return "", "", ""
}

// readNumber reads a file that holds a number; 0 if it does not.
func readNumber(file string) int64 {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
