package counters

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// slowEvery is how often gauges are read that the kernel updates only every other second, or that cost more
// than all others.
const slowEvery = time.Second

// groupDirs are the directories of the process' cgroup of a controller, and of
// those above it: the nearest first, of version 1 before version 2. Not all need
// be there: see findMemoryGroup.
func (k *kernel) groupDirs(controller string) (dirs []string) {
	groups, err := rt.ReadKernel(filepath.Join(k.root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		mounts := []string{controller}
		if controllers == "" {
			mounts = []string{"", "unified"}
		} else if !strings.Contains(","+controllers+",", ","+controller+",") {
			continue
		}
		for _, mount := range mounts {
			for g := path.Clean("/" + group); ; g = path.Dir(g) {
				dirs = append(dirs, path.Join(groupMount, mount, g))
				if g == "/" {
					break
				}
			}
		}
	}
	return dirs
}

// openThrottling reads for how long the cgroup's CPU limit kept threads from
// running, in the nearest group that has a limit.
func (k *kernel) openThrottling() (*gauge, error) {
	var found kernelFile
	for _, dir := range k.groupDirs("cpu") {
		if found.k != nil && !k.limitsCPU(dir) {
			continue
		}
		f, err := k.keep(dir, "cpu.stat")
		if err != nil {
			continue
		}
		if _, ok := keyed(f.read(), "nr_throttled"); !ok {
			continue // the root of version 2
		}
		if found = f; k.limitsCPU(dir) {
			break
		}
	}
	if found.k == nil {
		return nil, errNoGroup
	}
	return &gauge{
		every: slowEvery,
		specs: []Spec{{Name: "CPU throttled", Category: "CPU", Description: "time for which the CPU limit of the cgroup kept its threads from running, of all processors together", Unit: rawformat.FormatNanoseconds, Mode: rawformat.CounterTotal}},
		read: func(v []Reading) bool {
			text := found.read()
			if ns, ok := keyed(text, "throttled_time"); ok { // version 1
				v[0] = Reading{Value: ns, Known: true}
			} else if us, ok := keyed(text, "throttled_usec"); ok {
				v[0] = Reading{Value: us * 1000, Known: true}
			}
			v[0].Number, _ = keyed(text, "nr_throttled")
			return true
		},
	}, nil
}

// limitsCPU reports whether a cgroup has a CPU limit: "max 100000" is none in version
// 2, and -1 in version 1.
func (k *kernel) limitsCPU(dir string) bool {
	for _, file := range []string{"cpu.max", "cpu.cfs_quota_us"} {
		if text, err := rt.ReadKernel(filepath.Join(k.root, dir, file)); err == nil {
			n, _, ok := cutNumber(text)
			return ok && n > 0
		}
	}
	return false
}

// openPressure reads for how long work of the whole system had to wait for scarce
// resources.
func (k *kernel) openPressure() (*gauge, error) {
	return k.pressure("", func(resource string) (kernelFile, error) { return k.keep("proc/pressure", resource) })
}

var errRootGroup = errors.New("the process is in the root cgroup, whose pressure is the system's")

// openGroupPressure is openPressure of the process' cgroup, of version 2.
func (k *kernel) openGroupPressure() (*gauge, error) {
	for _, dir := range k.groupDirs("") {
		if _, err := os.Stat(filepath.Join(k.root, dir, "cpu.pressure")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(k.root, dir, "cgroup.type")); err != nil {
			return nil, errRootGroup // the only one without
		}
		return k.pressure("cgroup ", func(resource string) (kernelFile, error) { return k.keep(dir, resource+".pressure") })
	}
	return nil, errNoGroup
}

// pressure reads files of pressure: "some" is the time for which some of the work
// waited, "full" that for which all of it did.
func (k *kernel) pressure(of string, open func(resource string) (kernelFile, error)) (*gauge, error) {
	g := &gauge{every: slowEvery}
	var files [3]kernelFile
	for i, resource := range [...]string{"cpu", "memory", "io"} {
		var err error
		if files[i], err = open(resource); err != nil {
			return nil, err
		}
		name := of + [...]string{"CPU", "memory", "I/O"}[i] + " pressure"
		g.specs = append(g.specs,
			Spec{Name: name, Category: "Pressure", Description: "time for which some of the work waited for it", Unit: rawformat.FormatNanoseconds, Mode: rawformat.CounterTotal},
			Spec{Name: name + ", full", Category: "Pressure", Description: "time for which all of the work waited for it", Unit: rawformat.FormatNanoseconds, Mode: rawformat.CounterTotal})
	}
	g.read = func(v []Reading) bool {
		for i, f := range files {
			text := f.read()
			v[2*i], v[2*i+1] = stalled(text, "some"), stalled(text, "full")
		}
		return true
	}
	return g, nil
}

// stalled reads a line of pressure: "some avg10=0.00 avg60=0.00 avg300=0.00
// total=1234", in µs.
func stalled(text []byte, key string) Reading {
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, newline)
		if !bytes.HasPrefix(line, []byte(key)) {
			continue
		}
		if _, total, ok := bytes.Cut(line, []byte(" total=")); ok {
			us, _, ok := cutNumber(total)
			return Reading{Value: us * 1000, Known: ok}
		}
	}
	return Reading{}
}
