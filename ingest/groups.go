package ingest

import (
	"io/fs"
	"os"
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

// groupSearch is one search for groups.
type groupSearch struct {
	skip func(string) bool
	seen map[string]bool // resolved directories

	formats table
}

func (g *groupSearch) directory(dir string, depth int) (list []string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		if g.seen[real] { // links lead in circles
			return nil
		}
		g.seen[real] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil || isSession(dir, entries) {
		return []string{dir}
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), ".") || g.skip(path):
		case isDir(path, e) && depth > 0:
			list = append(list, g.directory(path, depth-1)...)
		case g.formats.promises(e.Name()):
			list = append(list, path)
		}
	}
	return list
}

// isDir follows links, which people collect recordings by.
func isDir(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isSession reports whether a directory is a process's, or contains one.
func isSession(dir string, entries []fs.DirEntry) bool {
	if isProcess(entries) {
		return true
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		below, err := os.ReadDir(filepath.Join(dir, e.Name()))
		if err == nil && isProcess(below) {
			return true
		}
	}
	return false
}
