package attach

import (
	"cmp"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gprof/rawformat/buildid"
	"gprof/recorder/internal/modules"
)

// builds finds out the build ids of files, each once.
type builds struct{ known map[file]string }

// file is a mapped file. Its path is that in the process' mount namespace.
type file struct {
	root, path string
	gnu        string // build id that the kernel read, "" none
}

// of returns the build id of a file that a process has mapped, "" if it is unknown. The
// one that the kernel read in the mapping goes before that of the file which has the path
// by now.
func (b *builds) of(pid int32, path, gnu string) string {
	if !filepath.IsAbs(path) || strings.HasPrefix(path, "//") {
		return gnu // no file, or none that has a name
	}
	root, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid)) // "" when it has ended
	f := file{root, path, gnu}
	id, known := b.known[f]
	if !known {
		id = read(pid, path, gnu)
		b.known[f] = id
	}
	return id
}

func read(pid int32, path, gnu string) string {
	f, err := elf.Open(fmt.Sprintf("/proc/%d/root%s", pid, path))
	if err != nil {
		f, err = elf.Open(path)
	}
	if err != nil {
		return gnu
	}
	defer f.Close()
	if gnu != "" && buildid.GNU(f) != gnu {
		return gnu // another file has the path by now
	}
	id, err := buildid.Of(f)
	if err != nil {
		return gnu
	}
	return id
}

// mapped lists the code that a process has mapped.
func (b *builds) mapped(pid int32) (all []modules.Module) {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil // it has ended
	}
	defer maps.Close()
	for m := range modules.All(maps) {
		m.Path = cmp.Or(m.Path, "//anon") // as perf_event calls what has no file
		path, gone := strings.CutSuffix(m.Path, modules.Deleted)
		if gone {
			m.Build = buildOfDeleted(pid, m)
		} else {
			m.Build = b.of(pid, path, "")
		}
		m.Path = path
		all = append(all, m)
	}
	return all
}

// buildOfDeleted is the build id of a mapped file that is gone, "" if it is unknown. The
// file that has its path by now is another one. Root may open all mappings, other users
// their own program.
func buildOfDeleted(pid int32, m modules.Module) string {
	for _, name := range []string{fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.Start, m.End), fmt.Sprintf("/proc/%d/exe", pid)} {
		if link, err := os.Readlink(name); err != nil || link != m.Path {
			continue
		}
		f, err := elf.Open(name)
		if err != nil {
			continue
		}
		defer f.Close()
		if id, err := buildid.Of(f); err == nil {
			return id
		}
	}
	return ""
}

// hexOf is a build id from the kernel in hexadecimal.
func hexOf(build []byte) string { return hex.EncodeToString(build) }
