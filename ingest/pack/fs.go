package pack

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"gprof/rawformat"
)

// Open opens a file or folder. Reading a chunk's header by ReadAt costs nothing; anything else
// inflates the file once per opening, and keeps it until Close.
func (a *Archive) Open(name string) (fs.File, error) {
	f, n, err := a.lookup("open", name)
	switch {
	case err != nil:
		return nil, err
	case n != nil:
		return &openFile{a: a, node: n}, nil
	}
	return &openDir{info: f.info(name), entries: a.entries(f)}, nil
}

// Stat describes a file or folder without opening it.
func (a *Archive) Stat(name string) (fs.FileInfo, error) {
	f, n, err := a.lookup("stat", name)
	switch {
	case err != nil:
		return nil, err
	case n != nil:
		return n.info(), nil
	}
	return f.info(name), nil
}

// ReadDir lists a folder, sorted.
func (a *Archive) ReadDir(name string) ([]fs.DirEntry, error) {
	f, n, err := a.lookup("readdir", name)
	if err == nil && n != nil {
		err = &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	}
	if err != nil {
		return nil, err
	}
	return a.entries(f), nil
}

// lookup finds a file or folder, nil for the root.
func (a *Archive) lookup(op, name string) (*folder, *node, error) {
	if name == "." {
		return nil, nil, nil
	}
	dir, base, inside := strings.Cut(name, "/")
	f := a.byName[dir]
	switch {
	case !fs.ValidPath(name):
		return nil, nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	case f != nil && !inside:
		return f, nil, nil
	case f != nil && f.files[base] != nil:
		return f, f.files[base], nil
	}
	return nil, nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// entries are those of a folder, of the root for nil.
func (a *Archive) entries(f *folder) (all []fs.DirEntry) {
	if f == nil {
		for _, f := range a.folders {
			all = append(all, fs.FileInfoToDirEntry(f.info(instanceName(f.instance))))
		}
		return all
	}
	for _, name := range f.names {
		all = append(all, fs.FileInfoToDirEntry(f.files[name].info()))
	}
	return all
}

// info is what Stat returns. Times are not packed.
type info struct {
	name string
	size int64
	mode fs.FileMode
}

func (f *folder) info(name string) fs.FileInfo { return info{path.Base(name), 0, fs.ModeDir | 0o700} }
func (n *node) info() fs.FileInfo              { return info{n.name, n.size, 0o600} }

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

// openDir is an open folder.
type openDir struct {
	info    fs.FileInfo
	entries []fs.DirEntry // not read yet
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: errors.New("is a directory")}
}

// ReadDir implements [fs.ReadDirFile].
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(d.entries)
	} else if len(d.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.entries))
	read := slices.Clone(d.entries[:n])
	d.entries = d.entries[n:]
	return read, nil
}

// openFile is an open file, for one goroutine.
type openFile struct {
	a       *Archive
	node    *node
	at      int64
	content []byte // nil: not inflated
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node.info(), nil }

func (f *openFile) Close() error {
	f.content = nil
	return nil
}

func (f *openFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.at)
	f.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// ReadAt implements [io.ReaderAt].
func (f *openFile) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.node.name, Err: fs.ErrInvalid}
	}
	if off >= f.node.size {
		return 0, io.EOF
	}
	if head := f.node.head(); off+int64(len(p)) <= int64(len(head)) {
		return copy(p, head[off:]), nil
	}
	if err := f.inflate(); err != nil {
		return 0, err
	}
	n := copy(p, f.content[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// head is the file's beginning in the index. For a chunk discarded before it could be packed that
// is in its section.
func (n *node) head() []byte {
	if n.entry == nil || n.section != nil && n.size != int64(n.entry.size) {
		return nil
	}
	return n.entry.header[:min(n.size, rawformat.HeaderSize)]
}

func (f *openFile) inflate() (err error) {
	switch {
	case f.content != nil:
		return nil
	case f.node.section == nil:
		f.content = make([]byte, f.node.size)
		copy(f.content, f.node.entry.header[:])
		return nil
	}
	f.content, err = f.a.content(f.node.section)
	if err != nil {
		f.content = nil
	}
	return err
}
