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
	return g.directory(dir, maxGroupDepth)
}

// GroupsIn is [Groups] in a file system, which has no links.
func GroupsIn(fsys fs.FS, dir string, joined ...Format) []string {
	g := groupSearch{fsys: fsys, skip: func(string) bool { return false }, formats: formats(joined)}
	return g.directory(dir, maxGroupDepth)
}

// groupSearch is one search for groups.
type groupSearch struct {
	fsys fs.FS // nil: the machine's
	skip func(string) bool
	seen map[string]bool // resolved directories

	formats table
}

func (g *groupSearch) directory(dir string, depth int) (list []string) {
	if g.fsys == nil && g.again(dir) { // links lead in circles
		return nil
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
			list = append(list, g.directory(path, depth-1)...)
		case g.formats.promises(e.Name()):
			list = append(list, path)
		}
	}
	return list
}

// again reports whether a directory was searched before, under another name.
func (g *groupSearch) again(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	again := g.seen[real]
	g.seen[real] = true
	return again
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
