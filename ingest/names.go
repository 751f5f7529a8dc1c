package ingest

import (
	"path/filepath"

	"gprof/ingest/symbols"
)

// openSymbols opens the programs that name functions. A path that leads to none
// is a warning: the recordings are read all the same.
func (f *Found) openSymbols(paths []string) {
	if len(paths) == 0 {
		return
	}
	set, errs := symbols.Open(paths)
	for i, err := range errs {
		if err != nil {
			f.Warnings = append(f.Warnings, newWarning(paths[i], filepath.Base(paths[i]), err))
		}
	}
	f.symbols = set
}

// resolve names the functions at an offset in the program of a build.
func (f *Found) resolve(build string, offset uint64, add func(function, file string, line, start int32)) {
	for _, fn := range f.symbols.Lookup(build, offset) {
		add(fn.Name, fn.File, fn.Line, fn.Start)
	}
}
