package recorder

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// memoryGroup is a memory cgroup, "" none. Of those that a process is in, it is
// the one whose limit the process meets first: where none has a limit, its own.
type memoryGroup struct {
	dir   string
	files *memoryFiles
	limit int64 // bytes, 0 none
}

// memoryFiles are the names of a version of cgroups.
type memoryFiles struct{ limit, usage, inactive string }

var (
	memoryFiles1 = memoryFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	memoryFiles2 = memoryFiles{"memory.max", "memory.current", "inactive_file"}
)

// unlimited is where numbers begin by which version 1 says that there is no
// limit: the largest one, rounded down to a page.
const unlimited = 1 << 62

// ownMemoryGroup is that of this process.
func ownMemoryGroup() (g memoryGroup) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return g
	}
	return findMemoryGroup("/sys/fs/cgroup", string(groups))
}

// findMemoryGroup reads /proc/self/cgroup; root is where cgroups are mounted.
//
// In a container the path there may be "/", or one that only the host sees,
// while what is mounted is the container's own group: so each directory above
// is looked at, and the mount's root last.
func findMemoryGroup(root, groups string) (found memoryGroup) {
	for line := range strings.Lines(groups) {
		mount, files, group := memoryLine(strings.TrimSuffix(line, "\n"))
		for ; files != nil; group = path.Dir(group) {
			dir := path.Join(root, mount, group)
			limit := readNumber(path.Join(dir, files.limit))
			if limit >= unlimited {
				limit = 0
			}
			lower := limit > 0 && (found.limit == 0 || limit < found.limit)
			if lower || found.dir == "" && readNumber(path.Join(dir, files.usage)) > 0 {
				found = memoryGroup{dir, files, limit}
			}
			if group == "/" {
				break
			}
		}
	}
	return found
}

// memoryLine reads a line of /proc/self/cgroup: "0::/path" of version 2, or
// "7:memory:/path" of version 1. Files are nil where it is of no use.
func memoryLine(line string) (mount string, files *memoryFiles, group string) {
	_, rest, _ := strings.Cut(line, ":")
	controllers, group, _ := strings.Cut(rest, ":")
	group = path.Clean("/" + group) // "/../x" is above what is mounted
	if controllers == "" {
		return "", &memoryFiles2, group
	}
	for c := range strings.SplitSeq(controllers, ",") {
		if c == "memory" {
			return "memory", &memoryFiles1, group
		}
	}
	return "", nil, ""
}

// memoryLimit is the lowest limit of the memory cgroups that this process is
// in, in bytes; 0 none.
func memoryLimit() int64 { return ownMemoryGroup().limit }

// groupMeter reads how much memory of a cgroup is taken. Cached file pages that
// nobody used lately are not counted, as container managers do it: the kernel
// takes them back before anybody is killed.
type groupMeter struct {
	group    memoryGroup
	usage    *os.File
	inactive int64
	due      Time // when inactive is read again
}

const (
	// inactiveEvery spares most reads of memory.stat: one costs as much as all
	// other counters together.
	inactiveEvery = Time(1e9)

	// scarce is the part of the limit from which on each value is exact.
	scarce = 0.875
)

// openGroupMeter returns nil where nothing can be read.
func openGroupMeter(g memoryGroup) *groupMeter {
	if g.dir == "" {
		return nil
	}
	f, err := os.Open(path.Join(g.dir, g.files.usage))
	if err != nil {
		return nil
	}
	return &groupMeter{group: g, usage: f}
}

func (m *groupMeter) read() int64 {
	var b [32]byte
	n, _ := m.usage.ReadAt(b[:], 0) // io.EOF: it is short
	used, err := strconv.ParseInt(strings.TrimSpace(string(b[:n])), 10, 64)
	if err != nil {
		return 0
	}
	if now := Now(); now >= m.due || m.group.limit > 0 && float64(used) > scarce*float64(m.group.limit) {
		m.due = now + inactiveEvery
		m.inactive = m.group.inactiveBytes()
	}
	return max(0, used-m.inactive)
}

// inactiveBytes is 0 where it isn't told.
func (g *memoryGroup) inactiveBytes() int64 {
	stat, err := os.ReadFile(path.Join(g.dir, "memory.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(stat)) {
		if key, value, _ := strings.Cut(line, " "); key == g.files.inactive {
			n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64) // the kernel writes numbers
			return n
		}
	}
	return 0
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
