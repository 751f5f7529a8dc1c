package modules

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"gprof/rawformat/buildid"
)

// Mapped lists the modules of this process that are not known yet, with their build ids.
func Mapped(known func(Module) bool) (modules []Module) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer maps.Close()
	exe, _ := os.Readlink("/proc/self/exe") // "" matches no mapping
	for m := range All(maps) {
		if !strings.HasPrefix(m.Path, "/") && m.Path != vdso {
			continue
		}
		named := m
		named.Path = strings.TrimSuffix(m.Path, Deleted)
		if !known(named) {
			named.Build = m.identify(exe)
			modules = append(modules, named)
		}
	}
	return modules
}

// Find returns the first mapping of code in this process that is wanted, else a zero one.
func Find(wanted func(*Module) bool) Module {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return Module{}
	}
	defer maps.Close()
	for m := range All(maps) {
		if wanted(&m) {
			return m
		}
	}
	return Module{}
}

// All reads the executable mappings of a file maps of /proc, without build ids. The path
// of a mapping without a file is "", or a name in brackets.
func All(maps io.Reader) iter.Seq[Module] {
	return func(yield func(Module) bool) {
		for lines := bufio.NewScanner(maps); lines.Scan(); {
			if m, ok := parse(lines.Text()); ok && !yield(m) {
				return
			}
		}
	}
}

// Deleted is what the kernel appends to the path of a file that is gone.
const Deleted = " (deleted)"

// parse reads a line of maps; ok is false for what is not executable.
func parse(line string) (m Module, ok bool) {
	m, mode, ok := parseAny(line)
	return m, ok && mode[2] == 'x'
}

// parseAny reads a line of maps, such as
//
//	00400000-0052a000 r-xp 00000000 fe:00 1234   /usr/bin/x
func parseAny(line string) (m Module, mode string, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 5 || len(fields[1]) < 3 {
		return m, "", false
	}
	from, to, _ := strings.Cut(fields[0], "-")
	var errs [3]error
	m.Start, errs[0] = strconv.ParseUint(from, 16, 64)
	m.End, errs[1] = strconv.ParseUint(to, 16, 64)
	m.Offset, errs[2] = strconv.ParseUint(fields[2], 16, 64)
	if at := strings.IndexAny(line, "/["); at >= 0 {
		m.Path = line[at:]
	}
	return m, fields[1], errs == [3]error{} && m.End > m.Start
}

// Writable returns the ranges of this process' memory in which variables lie, given the addresses
// of some: mappings that can be written, of files and of nothing, side by side.
func Writable(variables ...uintptr) (ranges []Module, err error) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		m, mode, ok := parseAny(lines.Text())
		if !ok || mode[:2] != "rw" || strings.HasPrefix(m.Path, "[") {
			continue
		}
		if n := len(ranges); n > 0 && ranges[n-1].End == m.Start {
			ranges[n-1].End = m.End
		} else {
			ranges = append(ranges, m)
		}
	}
	return slices.DeleteFunc(ranges, func(m Module) bool {
		return !slices.ContainsFunc(variables, func(at uintptr) bool { return m.Start <= uint64(at) && uint64(at) < m.End })
	}), lines.Err()
}

// vdso is the path of the kernel's code in the process: an ELF file that is in memory
// only.
const vdso = "[vdso]"

// maxVDSO is far more than its size on any system.
const maxVDSO = 1 << 20

// Image is the ELF file of the vdso as it is mapped into this process, nil for other modules.
func (m *Module) Image() *elf.File {
	if m.Path != vdso || m.End-m.Start > maxVDSO {
		return nil
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil
	}
	defer mem.Close()
	b := make([]byte, m.End-m.Start)
	if _, err := mem.ReadAt(b, int64(m.Start)); err != nil {
		return nil
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	return f
}

// Functions are the functions of a module that is not a file. Its frames must be named while the process lives, because no reader
// can get the code later.
func (m *Module) Functions() (all []Code) {
	f := m.Image()
	if f == nil {
		return nil
	}
	symbols, _ := f.DynamicSymbols()
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && elf.ST_BIND(s.Info) == elf.STB_GLOBAL { // weak ones are other names of those
			all = append(all, Code{s.Name, m.Start + s.Value, m.Start + s.Value + s.Size})
		}
	}
	return all
}

// identify returns the module's build id, or a hash of its memory where the file can't be
// read any more.
func (m *Module) identify(exe string) string {
	path := m.Path
	if path == exe {
		path = "/proc/self/exe" // the file that is running, even if its path leads elsewhere by now
	}
	if f := m.Image(); f != nil {
		if id := buildid.GNU(f); id != "" {
			return id
		}
	}
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		if id, err := buildid.Of(f); err == nil {
			return id
		}
	}
	return m.memoryID()
}

// memoryID is a hash of the mapping. It is read through the kernel, because it may be
// unmapped at any time.
func (m *Module) memoryID() string {
	h := sha256.New()
	mem, err := os.Open("/proc/self/mem")
	if err == nil {
		defer mem.Close()
		_, err = io.Copy(h, io.NewSectionReader(mem, int64(m.Start), int64(m.End-m.Start)))
	}
	if err != nil {
		return buildid.ContentPrefix + rand.Text() // unlike that of any other module
	}
	return buildid.ContentPrefix + hex.EncodeToString(h.Sum(nil)[:16])
}
