package archive

import (
	"cmp"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"
)

// FS is the wanted contents of an archive. It is for concurrent use.
type FS struct {
	nodes   map[string]*node // by path; "." is the root
	refused []Refusal
	more    int
}

// node is a file or a directory.
type node struct {
	path    string
	dir     bool
	size    int64
	from    source // of a file
	off     int64  // in from
	entries []fs.DirEntry
}

// source is where the bytes of members are.
type source interface {
	open() (io.ReaderAt, io.Closer, error)
}

func newFS() *FS { return &FS{nodes: map[string]*node{".": {path: ".", dir: true}}} }

// Refused lists what was left out, in the order of the archive, and how much more there is.
func (f *FS) Refused() (list []Refusal, more int) { return f.refused, f.more }

func (f *FS) refuse(name string, err error) {
	if len(f.refused) == maxRefused {
		f.more++
		return
	}
	f.refused = append(f.refused, Refusal{name[:min(len(name), MaxName)], err})
}

// add adds a file. The later of two with one name counts, as for tar.
func (f *FS) add(n *node) {
	if old := f.nodes[n.path]; old != nil && old.dir {
		f.refuse(n.path, ErrClash)
		return
	} else if old != nil {
		f.refuse(n.path, ErrTwice)
		*old = *n
		return
	}
	if !f.makeDir(path.Dir(n.path)) {
		f.refuse(n.path, ErrClash)
		return
	}
	f.link(n)
}

// makeDir makes a directory and its parents; false if a file is in the way.
func (f *FS) makeDir(name string) bool {
	if n := f.nodes[name]; n != nil {
		return n.dir
	}
	if !f.makeDir(path.Dir(name)) {
		return false
	}
	f.link(&node{path: name, dir: true})
	return true
}

func (f *FS) link(n *node) {
	f.nodes[n.path] = n
	parent := f.nodes[path.Dir(n.path)]
	parent.entries = append(parent.entries, n)
}

// sort completes the FS.
func (f *FS) sort() {
	for _, n := range f.nodes {
		slices.SortFunc(n.entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	}
}

func (f *FS) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	n := f.nodes[name]
	if n == nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

// Open implements [fs.FS]. An open file is an [io.ReaderAt].
func (f *FS) Open(name string) (fs.File, error) {
	n, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.dir {
		return &directory{node: n, left: n.entries}, nil
	}
	r, c, err := n.from.open()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{io.NewSectionReader(r, n.off, n.size), n, c}, nil
}

// Stat implements [fs.StatFS].
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	n, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// ReadDir implements [fs.ReadDirFS].
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := f.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	return slices.Clone(n.entries), nil
}

// A node is its own [fs.FileInfo] and [fs.DirEntry].

func (n *node) Name() string               { return path.Base(n.path) }
func (n *node) Size() int64                { return n.size }
func (n *node) IsDir() bool                { return n.dir }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) Sys() any                   { return nil }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }

func (n *node) Mode() fs.FileMode {
	if n.dir {
		return fs.ModeDir | 0o500
	}
	return 0o400
}

// file is an open member.
type file struct {
	*io.SectionReader
	node   *node
	closer io.Closer
}

func (f *file) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *file) Close() error               { return f.closer.Close() }

// directory is an open directory.
type directory struct {
	node *node
	left []fs.DirEntry
}

func (d *directory) Stat() (fs.FileInfo, error) { return d.node, nil }
func (d *directory) Close() error               { return nil }

func (d *directory) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.node.path, Err: fs.ErrInvalid}
}

// ReadDir implements [fs.ReadDirFile].
func (d *directory) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 {
		n = len(d.left)
	}
	n = min(n, len(d.left))
	list := slices.Clone(d.left[:n])
	d.left = d.left[n:]
	return list, nil
}
