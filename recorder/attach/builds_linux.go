package attach

import (
	"cmp"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

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

// of returns the build id of a file that a process has mapped, "" if it is unknown. The id that the kernel read from the
// mapping has precedence over that of the file which has the path now.
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
	f := openPath(pid, path)
	if f == nil {
		return gnu
	}
	defer f.Close()
	if gnu != "" && buildid.GNU(f.File) != gnu {
		return gnu // another file has the path by now
	}
	id, err := buildid.Of(f.File)
	if err != nil {
		return gnu
	}
	return id
}

// openPath opens a file by its path in the process' mount namespace, or in ours if the process has
// ended; nil if it can't be read.
func openPath(pid int32, path string) *program {
	if f, err := openProgram(fmt.Sprintf("/proc/%d/root%s", pid, path)); err == nil {
		return f
	}
	f, err := openProgram(path)
	if err != nil {
		return nil
	}
	return f
}

// program is an open ELF file.
type program struct {
	*elf.File
	file *os.File // nil: it is in memory
}

func (p *program) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// errNoFile means that a path is not that of a regular file; the sampled process may have put a pipe there.
var errNoFile = errors.New("no regular file")

func openProgram(name string) (*program, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	e, err := elf.NewFile(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &program{e, f}, nil
}

// openRegular opens a regular file. If the path is that of a pipe it does not wait for a writer.
func openRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, errNoFile)
	}
	return f, nil
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
	f := openDeleted(pid, m)
	if f == nil {
		return ""
	}
	defer f.Close()
	id, err := buildid.Of(f.File)
	if err != nil {
		return ""
	}
	return id
}

// openDeleted opens a mapped file that is gone, nil if that is impossible.
func openDeleted(pid int32, m modules.Module) *program {
	for _, name := range []string{fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.Start, m.End), fmt.Sprintf("/proc/%d/exe", pid)} {
		if link, err := os.Readlink(name); err != nil || strings.TrimSuffix(link, modules.Deleted) != strings.TrimSuffix(m.Path, modules.Deleted) {
			continue
		}
		if f, err := openProgram(name); err == nil {
			return f
		}
	}
	return nil
}

// hexOf is a build id from the kernel in hexadecimal.
func hexOf(build []byte) string { return hex.EncodeToString(build) }
