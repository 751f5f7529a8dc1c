package symbols

import (
	"debug/elf"
	"math"
	"strings"

	"gprof/rawformat/buildid"
)

// survey returns the build id noted in a program, "" if there is none and the recorder takes
// [contentID], and what the file holds.
func survey(name string) (id string, holds holding, err error) {
	if isPacked(name) {
		if id := headBuild(name); id != "" {
			return id, wholeProgram, nil
		}
	}
	f, err := openELF(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return buildid.Noted(f), holdingOf(f), nil
}

func holdingOf(f *elf.File) holding {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Filesz == 0 && p.Memsz != 0 {
			return onlyNames
		}
	}
	for _, name := range []string{".symtab", ".gopclntab", ".data.rel.ro.gopclntab"} {
		if f.Section(name) != nil {
			return wholeProgram
		}
	}
	return onlyExported
}

// contentID is the build id by contents.
func contentID(name string) (string, error) {
	f, err := openELF(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return buildid.Content(f)
}

// placeModule puts the code of a kernel's module where the kernel does, one section
// behind the other in the order of the file, and its functions with it: they are at
// offsets in sections. Places are from where the kernel says that the module begins,
// which is its first section of code.
//
// Code that goes when the module has begun lies elsewhere, and is left out. Of a table of
// jumps, which some processors need, the kernel decides on the size; what lies behind it
// is left out, too.
func placeModule(f *elf.File, all []elf.Symbol) (loads []elf.ProgHeader, placed []elf.Symbol) {
	at, end := map[elf.SectionIndex]uint64{}, uint64(0)
	for i, s := range f.Sections {
		const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
		if s.Flags&code != code || strings.HasPrefix(s.Name, ".init") {
			continue
		}
		align := max(s.Addralign, 1)
		if s.Size > maxTable || align > maxTable || grows(s.Name) {
			break
		}
		end = (end + align - 1) / align * align
		at[elf.SectionIndex(i)] = end
		end += s.Size
	}
	for _, s := range all {
		if base, ok := at[s.Section]; ok && s.Value <= math.MaxUint64-base {
			s.Value += base
			placed = append(placed, s)
		}
	}
	return []elf.ProgHeader{{Filesz: end}}, placed
}

// grows reports whether the kernel decides the size of a section.
func grows(name string) bool {
	return strings.HasPrefix(name, ".plt") || strings.HasPrefix(name, ".got") || strings.HasSuffix(name, "_trampoline")
}
