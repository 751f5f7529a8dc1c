// Package source finds the source files that recordings name: beside, where they were compiled, in the module
// cache, or in Go's own tree.
package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Finder finds files.
type Finder struct {
	Dirs     []string  // in which files lie as they did where they were compiled, or with a part of their path
	Recorded time.Time // files that changed later are not those that were compiled; up to 1970: unknown
	Go       string    // version that compiled them; "" unknown
}

// Text is what was found of a file.
type Text struct {
	Path  string
	Lines []string
	Note  string // why it may be another file than was compiled; "" nothing is known
}

// Errors of files that are not shown.
var (
	ErrNotFound = errors.New("not found here; --source-dir says where it lies")
	ErrNewer    = errors.New("changed after the recording")
	ErrOther    = errors.New("has other content than what was compiled")
	ErrGo       = errors.New("is of another version of Go")
	ErrNoSource = errors.New("is no source file")
)

// extensions are those of source files. Recordings come from anywhere, and one that names another file, such as a
// private key, is not to have it shown.
var extensions = strings.Fields(".go .s .S .asm .c .h .cc .hh .cpp .hpp .cxx .hxx .c++ .h++ .inc .inl .m .mm .cu .rs .swift .zig .d .nim .v .f .f90 .pas .adb .y .l .rl " +
	".templ .qtpl .py .pyx .js .mjs .cjs .jsx .ts .tsx .java .kt .scala .clj .cs .fs .vb .rb .php .lua .pl .ml .hs .ex .erl .r .jl .dart")

func isSource(file string) bool { return slices.Contains(extensions, filepath.Ext(file)) }

// maxFile bounds a source file, in bytes.
const maxFile = 16 << 20

// Function is a function of a file, as a recording knows it.
type Function struct {
	Name  string
	Start int // the line at which it begins, 0 unknown
	Last  int // a line of it, 0 unknown
}

// Find finds a file that has these functions.
func (f *Finder) Find(file string, functions ...Function) (*Text, error) {
	if file != "" && !isSource(file) {
		return nil, ErrNoSource
	}
	err := ErrNotFound
	for _, c := range f.candidates(file) {
		text, e := f.read(c, functions)
		switch {
		case e == nil:
			return text, nil
		case !errors.Is(e, os.ErrNotExist):
			err = fmt.Errorf("%s %w", c.path, e)
		}
	}
	return nil, err
}

// Has reports whether there is a file that may be it.
func (f *Finder) Has(file string) bool {
	return isSource(file) && slices.ContainsFunc(f.candidates(file), func(c candidate) bool {
		info, err := os.Stat(c.path)
		return err == nil && info.Mode().IsRegular() && (c.kind != goTree || sameGo(f.Go))
	})
}

// candidate is where a file may lie.
type candidate struct {
	path string
	kind kind
}

type kind uint8

const (
	compiled kind = iota // at its path
	beside               // in one of Dirs
	module               // in the module cache, where nothing changes
	goTree               // in Go's own tree
)

func (f *Finder) candidates(file string) (all []candidate) {
	slashed := filepath.ToSlash(file)
	if file == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(slashed, "/"), "/")
	for _, dir := range f.Dirs {
		for i := range parts {
			if local := filepath.FromSlash(strings.Join(parts[i:], "/")); filepath.IsLocal(local) {
				all = append(all, candidate{filepath.Join(dir, local), beside})
			}
		}
	}
	if _, below, ok := strings.Cut(slashed, "/pkg/mod/"); ok {
		all = append(all, candidate{filepath.Join(moduleCache(), filepath.FromSlash(below)), module})
	} else if before, _, ok := strings.Cut(slashed, "@v"); ok && !filepath.IsAbs(file) { // compiled with -trimpath
		all = append(all, candidate{filepath.Join(moduleCache(), escape(before)+filepath.FromSlash(slashed[len(before):])), module})
	}
	if root := goRoot(); root != "" {
		below := slashed
		if i := strings.LastIndex(slashed, "/src/"); i >= 0 {
			below = slashed[i+len("/src/"):]
		}
		if first, _, _ := strings.Cut(below, "/"); !strings.Contains(first, ".") && !strings.HasPrefix(below, "/") {
			all = append(all, candidate{filepath.Join(root, "src", filepath.FromSlash(below)), goTree})
		}
	}
	if filepath.IsAbs(file) {
		all = append(all, candidate{file, compiled})
	}
	return all
}

// read reads a file if it is the one that was compiled, as far as that can be told.
func (f *Finder) read(c candidate, functions []Function) (*Text, error) {
	info, err := os.Stat(c.path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, ErrNoSource
	case c.kind == goTree && !sameGo(f.Go):
		return nil, fmt.Errorf("%w: it was compiled by %s", ErrGo, cmp.Or(f.Go, "one that the recording does not tell"))
	}
	file, err := os.Open(c.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, err
	}
	t := &Text{Path: c.path, Lines: strings.Split(string(data), "\n")}
	known := false // where functions begin
	for _, fn := range functions {
		if len(t.Lines) < max(fn.Start, fn.Last) || fn.Start > 0 && !begins(t.Lines[fn.Start-1], fn.Name) {
			return nil, ErrOther
		}
		known = known || fn.Start > 0
	}
	if newer := f.Recorded.After(time.Unix(0, 0)) && info.ModTime().After(f.Recorded); newer && c.kind == beside && known {
		t.Note = "changed after the recording: its lines may be others"
	} else if newer && (c.kind == compiled || c.kind == beside) {
		return nil, ErrNewer
	}
	return t, nil
}

// made matches functions that the compiler makes of statements: no line names them.
var made = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\.(gowrap|deferwrap)\d+$|-fm$|-range\d+$|\.init(\.\d+)?$`)
})

// begins reports whether a Go function may begin at a line: it has its name or, of one without a name, is a func.
func begins(line, function string) bool {
	if made().MatchString(function) {
		return true
	}
	if i := strings.IndexByte(function, '['); i >= 0 {
		function = function[:i]
	}
	parts := strings.FieldsFunc(function, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	return strings.Contains(line, "func") || len(parts) > 0 && strings.Contains(line, parts[len(parts)-1])
}

// escape writes the path of a module as the module cache does: of large letters it knows only small ones.
func escape(path string) string {
	var out strings.Builder
	for _, r := range path {
		if unicode.IsUpper(r) {
			out.WriteByte('!')
			r = unicode.ToLower(r)
		}
		out.WriteRune(r)
	}
	return filepath.FromSlash(out.String())
}

func moduleCache() string {
	if dir := os.Getenv("GOMODCACHE"); dir != "" {
		return dir
	}
	if path := filepath.SplitList(os.Getenv("GOPATH")); len(path) > 0 {
		return filepath.Join(path[0], "pkg", "mod")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, "go", "pkg", "mod")
}

// goRoot is where Go lies: as GOROOT says, beside the command go, or in the usual place.
func goRoot() string {
	if root := os.Getenv("GOROOT"); root != "" {
		return root
	}
	dirs := filepath.SplitList(os.Getenv("PATH"))
	for _, dir := range append(dirs, "/usr/local/go/bin") {
		if at, err := filepath.EvalSymlinks(filepath.Join(dir, "go")); err == nil && filepath.Base(filepath.Dir(at)) == "bin" {
			if root := filepath.Dir(filepath.Dir(at)); isGo(root) {
				return root
			}
		}
	}
	return ""
}

func isGo(root string) bool {
	_, err := os.Stat(filepath.Join(root, "VERSION"))
	return err == nil
}

// sameGo reports whether the tree is of a version of Go.
func sameGo(version string) bool {
	data, err := os.ReadFile(filepath.Join(goRoot(), "VERSION"))
	first, _, _ := strings.Cut(string(data), "\n")
	return err == nil && version != "" && strings.TrimSpace(first) == version
}
