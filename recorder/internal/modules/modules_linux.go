package modules

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"strings"

	"gprof/rawformat/buildid"
)

// Mapped lists the executable mappings of files that are not known yet.
func Mapped(known func(Module) bool) (modules []Module) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer maps.Close()
	exe, _ := os.Readlink("/proc/self/exe") // "" matches no mapping
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		m, ok := parseMapping(lines.Text())
		if !ok {
			continue
		}
		named := m
		named.Path = strings.TrimSuffix(m.Path, deleted)
		if !known(named) {
			named.Build = m.identify(exe)
			modules = append(modules, named)
		}
	}
	return modules
}

// Find returns the first mapping of code that is wanted, else a zero one.
func Find(wanted func(*Module) bool) Module {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return Module{}
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if m, ok := parseMapping(lines.Text()); ok && wanted(&m) {
			return m
		}
	}
	return Module{}
}

// deleted is what the kernel appends to the path of a file that is gone.
const deleted = " (deleted)"

// parseMapping reads a line of maps, such as
//
//	00400000-0052a000 r-xp 00000000 fe:00 1234   /usr/bin/x
//
// ok is false for what is not executable, or is neither a file nor the vdso.
func parseMapping(line string) (m Module, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 6 || len(fields[1]) < 3 || fields[1][2] != 'x' {
		return m, false
	}
	from, to, _ := strings.Cut(fields[0], "-")
	var errs [3]error
	m.Start, errs[0] = strconv.ParseUint(from, 16, 64)
	m.End, errs[1] = strconv.ParseUint(to, 16, 64)
	m.Offset, errs[2] = strconv.ParseUint(fields[2], 16, 64)
	at := max(strings.Index(line, "/"), strings.Index(line, vdso))
	if errs != [3]error{} || at < 0 || m.End <= m.Start {
		return m, false
	}
	m.Path = line[at:]
	return m, true
}

// vdso is the path of the kernel's code in the process, an ELF file that lies in
// memory alone.
const vdso = "[vdso]"

// maxVDSO is far more than it has on any system.
const maxVDSO = 1 << 20

// image is what is mapped there as a file; nil where the file is a real one.
func (m *Module) image() *elf.File {
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

// Functions are those of code that lies in no file, by which its frames are named
// here: nobody could bring it later.
func (m *Module) Functions() (all []Code) {
	f := m.image()
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

// identify returns the module's build id. A file that can't be read any more is
// told apart by the memory that it is mapped to.
func (m *Module) identify(exe string) string {
	path := m.Path
	if path == exe {
		path = "/proc/self/exe" // the very file, though its path may lead elsewhere by now
	}
	if f := m.image(); f != nil {
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

// memoryID is the hash of the mapping, which is read through the kernel: it may
// be unmapped at any time.
func (m *Module) memoryID() string {
	h := sha256.New()
	mem, err := os.Open("/proc/self/mem")
	if err == nil {
		defer mem.Close()
		_, err = io.Copy(h, io.NewSectionReader(mem, int64(m.Start), int64(m.End-m.Start)))
	}
	if err != nil {
		return buildid.ContentPrefix + rand.Text() // nobody else's, then
	}
	return buildid.ContentPrefix + hex.EncodeToString(h.Sum(nil)[:16])
}
