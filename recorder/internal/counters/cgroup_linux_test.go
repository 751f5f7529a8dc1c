package counters

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cgroups is a tree of files as the kernel shows it: path → content.
func cgroups(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The group is found by version 1 and 2, on the machine and in containers, and
// the lowest limit counts.
func TestFindMemoryGroup(t *testing.T) {
	const none = "9223372036854771712\n" // version 1 writes this if there is no limit
	for _, tt := range []struct {
		name, groups string
		files        map[string]string
		dir          string
		limit        int64
	}{
		{"version 2", "0::/system.slice/x\n", map[string]string{"system.slice/x/memory.max": "1000\n", "system.slice/x/memory.current": "5\n"}, "system.slice/x", 1000},
		{"version 2, of the parent", "0::/a/b\n", map[string]string{"a/memory.max": "500\n", "a/b/memory.max": "1000\n", "a/b/memory.current": "5\n"}, "a", 500},
		{"version 2, without", "0::/a/b\n", map[string]string{"a/b/memory.max": "max\n", "a/b/memory.current": "5\n", "a/memory.current": "7\n"}, "a/b", 0},
		{"version 2, container", "0::/\n", map[string]string{"memory.max": "1000\n", "memory.current": "5\n"}, "", 1000},
		{"version 2, outside of the container's root", "0::/../other\n", map[string]string{"memory.max": "1000\n"}, "", 1000},
		{"version 1", "4:cpu,cpuacct:/\n7:memory:/docker/1\n0::/\n", map[string]string{"memory/docker/1/memory.limit_in_bytes": "1000\n", "memory/memory.limit_in_bytes": none}, "memory/docker/1", 1000},
		{"version 1, with others", "3:hugetlb,memory:/\n", map[string]string{"memory/memory.limit_in_bytes": "1000\n"}, "memory", 1000},
		{"version 1, container that sees the host's path", "7:memory:/docker/1\n", map[string]string{"memory/memory.limit_in_bytes": "1000\n"}, "memory", 1000},
		{"version 1, without", "7:memory:/a\n", map[string]string{"memory/a/memory.limit_in_bytes": none, "memory/a/memory.usage_in_bytes": "5\n"}, "memory/a", 0},
		{"a path with spaces and colons", "0::/a b:c\n", map[string]string{"a b:c/memory.max": "7"}, "a b:c", 7},
		{"nothing mounted", "0::/x\n", nil, "", 0},
		{"nonsense", "x\n:\n\n7:memory\n", nil, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := cgroups(t, tt.files)
			g := findMemoryGroup(root, tt.groups)
			want := filepath.Join(root, tt.dir)
			if tt.files == nil {
				want = ""
			}
			if g.dir != want || g.limit != tt.limit {
				t.Errorf("%q, limit %d, want %q, %d", g.dir, g.limit, want, tt.limit)
			}
		})
	}
}

// Cache that can be dropped does not count; if memory is scarce it is read each time. Changes of the
// limit are noticed.
func TestGroupMeter(t *testing.T) {
	root := cgroups(t, map[string]string{
		"memory.max": "1000\n", "memory.current": "300\n", "memory.stat": "anon 1\ninactive_file 200\nactive_file 7\n"})
	k := &kernel{root: root}
	defer k.close()
	m, err := k.openGroupMeter(findMemoryGroup(root, "0::/\n"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	if got, ok := m.read(now); !ok || got != 100 || m.group.limit != 1000 {
		t.Errorf("%d bytes of %d, %v; want 100 of 1000", got, m.group.limit, ok)
	}
	write("memory.stat", "inactive_file 0\n")
	write("memory.current", "800\n")
	if got, _ := m.read(now); got != 600 {
		t.Errorf("%d bytes, want 600, with the cache of before", got)
	}
	write("memory.current", "990\n")
	if got, _ := m.read(now); got != 990 {
		t.Errorf("%d bytes, want all 990", got)
	}
	write("memory.max", "max\n")
	if m.read(now.Add(2 * inactiveEvery)); m.group.limit != 0 {
		t.Errorf("limit %d, want none any more", m.group.limit)
	}
	for _, odd := range []string{"", "max\n", strings.Repeat("9", 40), "12 34"} {
		write("memory.current", odd)
		if got, ok := m.read(now); ok {
			t.Errorf("%q: %d bytes, want no value", odd, got)
		}
	}
	if _, err := k.openGroupMeter(memoryGroup{dir: root, files: &memoryFiles1}); err == nil {
		t.Error("a meter of nothing")
	}
}

// The group of this process can be read on this machine.
func TestOwnMemoryGroup(t *testing.T) {
	g := ownMemoryGroup()
	if g.dir == "" {
		t.Log("no memory cgroup on this machine")
		return
	}
	k := &kernel{root: "/"}
	defer k.close()
	m, err := k.openGroupMeter(g)
	if err != nil {
		t.Fatal(err)
	}
	if used, ok := m.read(time.Now()); !ok || used <= 0 || g.limit > 0 && used > g.limit {
		t.Errorf("%d bytes of %d, %v", used, g.limit, ok)
	}
}
