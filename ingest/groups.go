package ingest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxGroupDepth is how many directories below another sessions are looked for.
const maxGroupDepth = 16

// Groups lists the recordings below a directory that belong together, as inputs
// to be read one by one: each session directory, with all its processes; each
// directory of a process that is in none; and each file that is called as
// archives are. They come in the order of their names. What begins with a dot
// is passed over, and so is what skip says. Joined are as in [Options.Formats]. A directory that cannot be read is
// listed, too: reading it will tell why.
func Groups(dir string, skip func(path string) bool, joined ...Format) []string {
	g := grouping{skip: skip, seen: map[string]bool{}, formats: formats(joined)}
	return g.directory(dir, maxGroupDepth)
}

// grouping is one search for groups.
type grouping struct {
	skip func(string) bool
	seen map[string]bool // real paths of directories

	formats table
}

func (g *grouping) directory(dir string, depth int) (list []string) {
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

// isDir follows links, for people collect recordings by them.
func isDir(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isSession reports whether a directory is that of a process, or holds one.
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
