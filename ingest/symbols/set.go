// Package symbols names functions by a program's own tables: for recordings that were cut off
// before they could write names themselves.
//
// A program is found by its build id only, never by its path: another build would give wrong names.
// Places are file offsets, as in recordings. Functions inlined into Go code are named, too. Names
// are complete: those of generic functions have their types, as in a CPU profile. C++ and Rust
// names are demangled, without parameters.
//
// Symbols stripped from a program may be in a separate file (/usr/lib/debug, the cache of
// debuginfod), which lacks the position of the code: it names functions if the program is there as
// well.
//
// The kernel's symbol list, /proc/kallsyms, names places in its text. A module's file, .ko, names
// places in that module wherever it was loaded, except in init code, and on arm64 and RISC-V what
// follows its PLT. It may be compressed (.ko.gz, .ko.zst).
//
// Code that a process made as it ran is named by the lists that it wrote, perf-PID.map and
// jit-PID.dump, at its addresses: see package jitcode.
package symbols

import (
	"cmp"
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gprof/ingest/internal/naming"
	"gprof/rawformat/buildid"
	"gprof/rawformat/jitcode"
	"gprof/rawformat/kallsyms"
)

// ErrNoProgram says that there is no program at a path.
var ErrNoProgram = errors.New("no ELF program found")

// Function is a function at a place.
type Function struct {
	Name  string
	File  string // "" unknown
	Line  int32  // 0 unknown
	Start int32  // first line, 0 unknown
}

// Set is a set of programs, for concurrent use.
type Set struct {
	mu     sync.Mutex
	files  map[string][]file   // by build id, those with most names first, then by path
	untold []string            // files whose build id is by contents, so that they must be read
	open   map[string]*program // by path; nil: unreadable
	calls  callFrames
}

// Open looks for programs, and kernel symbol lists, in paths: files, and folders with those below.
// It reads only their build ids. There is an error for each path: nil, or why nothing was found:
// [ErrNoProgram], [ErrXZ], or the disk's.
func Open(paths []string) (*Set, []error) {
	s := &Set{files: map[string][]file{}, open: map[string]*program{}}
	errs := make([]error, len(paths))
	for i, path := range paths {
		n, packed := 0, 0
		err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
			pid, isMade := madeBy(name)
			switch {
			case err != nil && name == path:
				return err
			case err == nil && filepath.Base(name) == kallsyms.Name:
				id, err := kernelID(name)
				if err != nil {
					return err
				}
				n++
				s.take(id, file{name: name})
			case err == nil && isMade && e.Type().IsRegular():
				n++
				s.take(jitcode.OfProcess(pid), file{name: name})
			case err == nil && strings.HasSuffix(name, ".ko.xz"):
				packed++
			case err == nil && isProgram(name):
				n++
				s.add(name)
			}
			return nil // one folder that cannot be read hides no other
		})
		switch {
		case err != nil || n > 0:
		case packed > 0:
			err = ErrXZ
		default:
			err = ErrNoProgram
		}
		errs[i] = err
	}
	return s, errs
}

// isProgram reports whether a file is an ELF file, or a compressed module; links are followed.
func isProgram(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if isPacked(name) {
		return true
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = f.Read(magic[:])
	return err == nil && string(magic[:]) == "\x7fELF"
}

// file names functions of a build.
type file struct {
	name  string
	holds holding
}

// holding is what a file has of its program.
type holding uint8

const (
	wholeProgram holding = iota // code and all names
	onlyNames                   // names without code
	onlyExported                // code and exported names
)

func (s *Set) add(name string) {
	switch id, holds, err := survey(name); {
	case err != nil:
	case id == "":
		s.untold = append(s.untold, name)
	default:
		s.take(id, file{name, holds})
	}
}

// take adds a file of a build, after those with as many names.
func (s *Set) take(build string, f file) {
	all := s.files[build]
	i, _ := slices.BinarySearchFunc(all, f.holds+1, func(f file, holds holding) int { return cmp.Compare(f.holds, holds) })
	s.files[build] = slices.Insert(all, i, f)
}

// Lookup returns the functions at an offset in the program of a build, the outermost first; nil if
// unknown. The memory is the caller's. For a kernel in one boot (naming.AtBoot) functions of
// modules are included, with the module in brackets after the name.
func (s *Set) Lookup(build string, offset uint64) []Function {
	s.mu.Lock()
	defer s.mu.Unlock()
	build, text, booted := naming.CutBoot(build)
	for _, f := range s.filesOf(build) {
		p := s.tables(build, f)
		var chain []Function
		switch {
		case p == nil:
		case p.kernel == nil && !booted:
			chain = p.lookup(offset)
		case p.kernel != nil && (!booted || p.kernel.Text == text):
			chain = p.inKernel(offset, booted)
		}
		if chain != nil {
			return chain
		}
	}
	return nil
}

// filesOf are the files of a build.
func (s *Set) filesOf(build string) []file {
	if strings.HasPrefix(build, buildid.ContentPrefix) {
		s.readUntold()
	}
	return s.files[build]
}

// tables returns the tables of a file of a build; nil if unreadable.
func (s *Set) tables(build string, f file) *program {
	p := s.program(f.name)
	if p != nil && f.holds == onlyNames {
		p.loads = s.loads(build)
	}
	return p
}

// program returns the tables of a file; nil if unreadable.
func (s *Set) program(name string) *program {
	p, known := s.open[name]
	if !known {
		p, _ = openProgram(name)
		s.open[name] = p
	}
	return p
}

// loads is where the code of a build is in its program, nil if no file has that.
func (s *Set) loads(build string) []elf.ProgHeader {
	for _, f := range s.files[build] {
		if p := s.program(f.name); p != nil && f.holds != onlyNames {
			return p.loads
		}
	}
	return nil
}

// readUntold determines the build ids of files without a noted one.
func (s *Set) readUntold() {
	for _, name := range s.untold {
		if id, err := contentID(name); err == nil {
			s.take(id, file{name: name})
		}
	}
	s.untold = nil
}
