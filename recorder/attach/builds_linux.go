package attach

import (
	"bufio"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gprof/rawformat/buildid"
)

// builds finds out the build ids of files, each once.
type builds struct{ known map[file]string }

// file is one as it was mapped: its path means what it means to a process, whose
// namespace may be another one.
type file struct {
	root, path string
	gnu        string // what the kernel said, "" nothing
}

// of returns the build id of a file that a process has mapped, "" if nobody tells. What
// the kernel read in the mapping goes before what has the path by now; but that may
// hold what is missing in the mapping.
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

// deleted is what the kernel appends to the path of a file that is gone.
const deleted = " (deleted)"

// mapped lists the code that a process has mapped.
func (b *builds) mapped(pid int32) (all []module) {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil // it has ended
	}
	defer maps.Close()
	for _, m := range parseMaps(maps) {
		path, gone := strings.CutSuffix(m.path, deleted)
		if gone {
			m.build = buildOfDeleted(pid, m)
		} else {
			m.build = b.of(pid, path, "")
		}
		m.path = path
		all = append(all, m)
	}
	return all
}

// buildOfDeleted is the build id of a mapped file that is gone, "" if nobody tells: what
// has its path by now is another one. All mappings may be opened as root, the program itself
// by its user.
func buildOfDeleted(pid int32, m module) string {
	for _, name := range []string{fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.start, m.end), fmt.Sprintf("/proc/%d/exe", pid)} {
		if link, err := os.Readlink(name); err != nil || link != m.path {
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

// parseMaps reads lines such as
//
//	00400000-0052a000 r-xp 00000000 fe:00 1234   /usr/bin/x
//
// and leaves out what is no code.
func parseMaps(r io.Reader) (all []module) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 5 || len(f[1]) < 3 || f[1][2] != 'x' {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		offset, err3 := strconv.ParseUint(f[2], 16, 64)
		if err1 != nil || err2 != nil || err3 != nil || end <= start {
			continue
		}
		m := module{path: "//anon", start: start, end: end, offset: offset} // as perf_event calls what has no file
		if at := strings.IndexAny(lines.Text(), "/["); at >= 0 {
			m.path = lines.Text()[at:]
		}
		all = append(all, m)
	}
	return all
}

// hexOf is a build id as the kernel told it.
func hexOf(build []byte) string { return hex.EncodeToString(build) }
