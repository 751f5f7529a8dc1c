package counters

import (
	"errors"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// groupMount is where cgroups are mounted, below the root.
const groupMount = "sys/fs/cgroup"

var errNoGroup = errors.New("the process is in no such cgroup, or it can't be read")

// memoryGroup is a memory cgroup: of those that a process is in, the one with the
// lowest limit, or the process' own where none has a limit.
type memoryGroup struct {
	dir   string // "": none
	files *memoryFiles
	limit int64 // bytes, 0 none
}

// memoryFiles are the names of a version of cgroups.
type memoryFiles struct{ limit, usage, inactive string }

var (
	memoryFiles1 = memoryFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	memoryFiles2 = memoryFiles{"memory.max", "memory.current", "inactive_file"}
)

// ownMemoryGroup is the group of this process.
func ownMemoryGroup() (g memoryGroup) {
	groups, err := rt.ReadKernel("/proc/self/cgroup")
	if err != nil {
		return g
	}
	return findMemoryGroup("/"+groupMount, string(groups))
}

// findMemoryGroup reads /proc/self/cgroup; root is where cgroups are mounted.
//
// In a container the path there may be "/", or one that only the host sees, while
// the container's own group is mounted. So each directory above is looked at, and
// the mount's root last.
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
// "7:memory:/path" of version 1. Files is nil for other lines.
func memoryLine(line string) (mount string, files *memoryFiles, group string) {
	_, rest, _ := strings.Cut(line, ":")
	controllers, group, _ := strings.Cut(rest, ":")
	group = path.Clean("/" + group) // "/../x" is above the mount
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

// MemoryLimit is the lowest limit of the memory cgroups that this process is
// in, in bytes; 0 none.
func MemoryLimit() int64 { return ownMemoryGroup().limit }

const (
	// inactiveEvery is how often memory.stat is read: that costs as much as all other
	// counters together.
	inactiveEvery = time.Second

	// scarce is the part of the limit from which on memory.stat is read each time.
	scarce = 0.875
)

// openGroupMemory reads the memory of the cgroup and its limit. As in container
// managers, cached file pages that were not used lately don't count: the kernel takes
// them back before it kills a process.
func (k *kernel) openGroupMemory() (*gauge, error) {
	groups, err := rt.ReadKernel(filepath.Join(k.root, "proc/self/cgroup"))
	if err != nil {
		return nil, err
	}
	g := findMemoryGroup(filepath.Join(k.root, groupMount), string(groups))
	if g.dir == "" {
		return nil, errNoGroup
	}
	m, err := k.openGroupMeter(g)
	if err != nil {
		return nil, err
	}
	return &gauge{
		specs: []Spec{
			{Name: rawformat.CounterGroupMemory, Category: "Memory", Description: "memory of the cgroup, without inactive file pages", Unit: rawformat.FormatBytes},
			{Name: "cgroup memory limit", Category: "Memory", Description: "memory that the cgroup may take; no value: as much as there is", Unit: rawformat.FormatBytes},
		},
		read: func(v []Reading) bool {
			v[0].Value, v[0].Known = m.read(time.Now())
			v[1] = Reading{Value: m.group.limit, Known: m.group.limit > 0}
			k.rooms[RoomGroup] = Room{}
			if v[0].Known {
				k.rooms[RoomGroup] = limited(v[0].Value, m.group.limit)
			}
			return true
		},
	}, nil
}

// groupMeter reads how much memory a cgroup takes.
type groupMeter struct {
	group        memoryGroup
	limit, usage kernelFile
	stat         kernelFile
	inactive     int64
	due          time.Time // when limit and inactive are read again
}

func (k *kernel) openGroupMeter(g memoryGroup) (m *groupMeter, err error) {
	m = &groupMeter{group: g}
	dir, err := filepath.Rel(k.root, g.dir)
	if err != nil {
		return nil, err
	}
	if m.usage, err = k.keep(dir, g.files.usage); err != nil {
		return nil, err
	}
	m.stat, _ = k.keep(dir, "memory.stat") // without it all memory counts
	m.limit, _ = k.keep(dir, g.files.limit)
	return m, nil
}

// read is the memory in use.
func (m *groupMeter) read(now time.Time) (int64, bool) {
	used, ok := m.usage.number()
	if !ok {
		return 0, false
	}
	if !now.Before(m.due) || m.group.limit > 0 && float64(used) > scarce*float64(m.group.limit) {
		m.due = now.Add(inactiveEvery)
		m.inactive, _ = keyed(m.stat.read(), m.group.files.inactive)
		limit, ok := m.limit.number()
		if m.group.limit = limit; !ok || limit >= unlimited { // "max"
			m.group.limit = 0
		}
	}
	return max(0, used-m.inactive), true
}

// readNumber reads a file that holds a number; 0 if it does not.
func readNumber(file string) int64 {
	b, err := rt.ReadKernel(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
