package ingest

import (
	"io/fs"
	"os"
	slash "path"
	"path/filepath"
	"strings"
)

// maxGroupDepth bounds the depth of the search for sessions.
const maxGroupDepth = 16

// Groups lists the recordings below a directory that belong together, as inputs to be read one by
// one: session directories, process directories outside of sessions, and files named like archives,
// sorted by name. Names that begin with a dot are skipped, and what skip says. Joined formats are
// as in [Options.Formats]. An unreadable directory is listed, too: reading it will tell why.
func Groups(dir string, skip func(path string) bool, joined ...Format) []string {
	g := groupSearch{skip: skip, seen: map[string]bool{}, formats: formats(joined)}
	return g.directory(dir, resolved(dir), maxGroupDepth)
}

// GroupsIn is [Groups] in a file system, which has no links.
func GroupsIn(fsys fs.FS, dir string, joined ...Format) []string {
	g := groupSearch{fsys: fsys, skip: func(string) bool { return false }, formats: formats(joined)}
	return g.directory(dir, dir, maxGroupDepth)
}

// groupSearch is one search for groups.
type groupSearch struct {
	fsys fs.FS // nil: the machine's
	skip func(string) bool
	seen map[string]bool // resolved directories

	formats table
}

// directory searches a directory, whose name without links is real.
func (g *groupSearch) directory(dir, real string, depth int) (list []string) {
	if g.fsys == nil && g.seen[real] { // links lead in circles
		return nil
	}
	if g.fsys == nil {
		g.seen[real] = true
	}
	entries, err := g.read(dir)
	if err != nil || g.isSession(dir, entries) {
		return []string{dir}
	}
	for _, e := range entries {
		path := g.join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), ".") || g.skip(path):
		case g.isDir(path, e) && depth > 0:
			list = append(list, g.directory(path, g.realOf(real, path, e), depth-1)...)
		case g.formats.promises(e.Name()):
			list = append(list, path)
		}
	}
	return list
}

// realOf is the name without links of an entry of a directory.
func (g *groupSearch) realOf(dir, path string, e fs.DirEntry) string {
	if g.fsys == nil && e.Type()&fs.ModeSymlink != 0 {
		return resolved(path)
	}
	return g.join(dir, e.Name())
}

// resolved is a path without links, or the path itself if it can't be followed.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func (g *groupSearch) read(dir string) ([]fs.DirEntry, error) {
	if g.fsys == nil {
		return os.ReadDir(dir)
	}
	return fs.ReadDir(g.fsys, dir)
}

func (g *groupSearch) join(dir, name string) string {
	if g.fsys == nil {
		return filepath.Join(dir, name)
	}
	return slash.Join(dir, name)
}

// isDir follows links, which people collect recordings by.
func (g *groupSearch) isDir(path string, e fs.DirEntry) bool {
	if g.fsys != nil || e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isSession reports whether a directory is a process's, or contains one.
func (g *groupSearch) isSession(dir string, entries []fs.DirEntry) bool {
	if isProcess(entries) {
		return true
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		below, err := g.read(g.join(dir, e.Name()))
		if err == nil && isProcess(below) {
			return true
		}
	}
	return false
}
