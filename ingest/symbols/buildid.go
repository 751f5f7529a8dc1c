package symbols

import (
	"debug/elf"

	"gprof/rawformat/buildid"
)

// survey names the build of a program as the recorder names it, if that is noted in
// it; else it is "", and the recorder takes [contentID]. It says what the file holds.
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

// contentID names it by its content.
func contentID(name string) (string, error) {
	f, err := openELF(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return buildid.Content(f)
}
