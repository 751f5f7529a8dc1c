package watchdog

import (
	"errors"
	"io"
	"io/fs"
	"sync/atomic"
)

// Mount hangs as a whole: once an operation on one of its file systems was given up, all others are
// at once.
type Mount struct{ gone atomic.Bool }

// FS returns fsys, which is on m, with its operations watched. Its files are [io.ReaderAt] if those
// of fsys are, and it has OpenRegular if fsys has. It has Group.
func (w *Watch) FS(fsys fs.FS, m *Mount) fs.FS {
	if w.tick <= 0 {
		return fsys
	}
	return newFS(&mountWatch{Watch: w, m: m}, fsys)
}

func newFS(w *mountWatch, fsys fs.FS) fs.FS {
	watched := &watchedFS{w, fsys}
	if o, ok := fsys.(regularOpener); ok {
		return &watchedOpener{watched, o}
	}
	return watched
}

// regularOpener opens regular files and tells their sizes.
type regularOpener interface {
	OpenRegular(name string) (f fs.File, size int64, err error)
}

type watchedOpener struct {
	*watchedFS
	fsys regularOpener
}

// OpenRegular opens a regular file and tells its size. One that opens too late is closed.
func (f *watchedOpener) OpenRegular(name string) (fs.File, int64, error) {
	type opened struct {
		fs.File
		size int64
	}
	v, err := call(f.w, func() (o opened, err error) {
		o.File, o.size, err = f.fsys.OpenRegular(name)
		return o, err
	}, func(late opened) { late.Close() })
	if err != nil {
		return nil, 0, stallError("open", name, err)
	}
	return &watchedFile{w: f.w, f: v.File, name: name}, v.size, nil
}

type watchedFS struct {
	w    *mountWatch
	fsys fs.FS
}

// mountWatch is a watch of a mount.
type mountWatch struct {
	*Watch
	m      *Mount
	inside bool // a group, which is waited for as a whole
}

// Do is [Watch.Do], and remembers that the mount is gone.
func (w *mountWatch) Do(op func()) error {
	switch {
	case w.m.gone.Load():
		return ErrStalled
	case w.inside:
		op()
		w.progress.Add(1)
		return nil
	}
	err := w.Watch.Do(op)
	if err != nil {
		w.m.gone.Store(true)
	}
	return err
}

// Group calls op with a file system like this one, and waits for it as for one operation: to wait for each of thousands of
// small files takes longer than to read them. What op does there is progress. After an error op may still be running: it
// must not touch what its caller goes on to use.
func (f *watchedFS) Group(op func(fs.FS)) error {
	inside := newFS(&mountWatch{f.w.Watch, f.w.m, true}, f.fsys)
	return stallError("read", ".", f.w.Do(func() { op(inside) }))
}

// Open implements [fs.FS]. A file that opens too late is closed.
func (f *watchedFS) Open(name string) (fs.File, error) {
	v, err := call(f.w, func() (fs.File, error) { return f.fsys.Open(name) }, func(late fs.File) { late.Close() })
	if err != nil {
		return nil, stallError("open", name, err)
	}
	file := &watchedFile{w: f.w, f: v, name: name}
	if dir, ok := v.(fs.ReadDirFile); ok {
		return &watchedDir{file, dir}, nil
	}
	return file, nil
}

// Stat implements [fs.StatFS].
func (f *watchedFS) Stat(name string) (fs.FileInfo, error) {
	v, err := call(f.w, func() (fs.FileInfo, error) { return fs.Stat(f.fsys, name) }, nil)
	return v, stallError("stat", name, err)
}

// ReadDir implements [fs.ReadDirFS].
func (f *watchedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	v, err := call(f.w, func() ([]fs.DirEntry, error) { return fs.ReadDir(f.fsys, name) }, nil)
	return v, stallError("readdir", name, err)
}

func stallError(op, name string, err error) error {
	if err == ErrStalled {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return err
}

type watchedFile struct {
	w    *mountWatch
	f    fs.File
	name string
}

// piece is how much is read at once, so that a large file on a slow mount shows progress.
const piece = 1 << 20

// ReadAt implements [io.ReaderAt] if the file does.
func (f *watchedFile) ReadAt(p []byte, off int64) (n int, err error) {
	at, ok := f.f.(io.ReaderAt)
	if !ok {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: errors.ErrUnsupported}
	}
	for n < len(p) && err == nil {
		var m int
		m, err = f.piece(at, p[n:min(n+piece, len(p))], off+int64(n))
		n += m
	}
	if n == len(p) {
		err = nil
	}
	return n, stallError("read", f.name, err)
}

// piece reads some bytes. Outside of a group a read that hangs may come back when its caller uses the memory again.
func (f *watchedFile) piece(at io.ReaderAt, p []byte, off int64) (n int, err error) {
	if f.w.inside {
		return read(f.w, func() (int, error) { return at.ReadAt(p, off) })
	}
	b := f.w.buffer(len(p))
	n, err = read(f.w, func() (int, error) { return at.ReadAt(*b, off) })
	copy(p, (*b)[:n])
	f.w.done(b, err)
	return n, err
}

func (f *watchedFile) Read(p []byte) (int, error) {
	b := f.w.buffer(len(p))
	n, err := read(f.w, func() (int, error) { return f.f.Read(*b) })
	copy(p, (*b)[:n])
	f.w.done(b, err)
	return n, stallError("read", f.name, err)
}

func (f *watchedFile) Stat() (fs.FileInfo, error) {
	v, err := call(f.w, f.f.Stat, nil)
	return v, stallError("stat", f.name, err)
}

// watchedDir is a file that may be a directory, as an [os.File] always may.
type watchedDir struct {
	*watchedFile
	dir fs.ReadDirFile
}

// ReadDir implements [fs.ReadDirFile].
func (d *watchedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	v, err := call(d.w, func() ([]fs.DirEntry, error) { return d.dir.ReadDir(n) }, nil)
	return v, stallError("readdir", d.name, err)
}

// Close is not watched: closing what was only read does not hang.
func (f *watchedFile) Close() error { return f.f.Close() }
