package store

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
)

// bucket is a bucket as a file system: its objects are files, and what comes before a slash
// in a name is a directory.
type bucket struct {
	name   string
	client *minio.Core
	blocks cache

	mu    sync.Mutex
	known map[string]object // that were listed
}

// maxKnown bounds them, at some 200 bytes each.
const maxKnown = 1 << 17

// Open implements [fs.FS]. Files are [io.ReaderAt], directories [fs.ReadDirFile].
func (b *bucket) Open(name string) (fs.File, error) {
	info, err := b.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &directory{info: info, b: b, name: name}, nil
	}
	return &file{b: b, name: name, of: info.Sys().(object)}, nil
}

// Stat implements [fs.StatFS].
func (b *bucket) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: scheme + b.name + "/" + name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return entry{name: ".", dir: true}, nil
	}
	b.mu.Lock()
	o, ok := b.known[name]
	b.mu.Unlock()
	if ok {
		return entry{name: path.Base(name), object: o}, nil
	}
	o, err := b.stat(name)
	if err == nil {
		b.note(name, o)
		return entry{name: path.Base(name), object: o}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	there := false
	if err := b.list(name+"/", 1, func(string, object) { there = true }); err != nil {
		return nil, err
	}
	if !there {
		return nil, err
	}
	return entry{name: path.Base(name), dir: true}, nil
}

// note keeps what is known of an object, so that it need not be asked for again.
func (b *bucket) note(name string, o object) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) < maxKnown {
		b.known[name] = o
	}
}

// ReadDir implements [fs.ReadDirFS].
func (b *bucket) ReadDir(name string) (all []fs.DirEntry, err error) {
	dir := name + "/"
	if name == "." {
		dir = ""
	}
	err = b.list(dir, 0, func(full string, o object) {
		e := entry{name: strings.TrimPrefix(full, dir), object: o}
		if e.name, e.dir = strings.CutSuffix(e.name, "/"); e.name == "" {
			return // the directory itself, which some tools make an object of
		}
		if !e.dir {
			b.note(full, o)
		}
		all = append(all, e)
	})
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, err
}

// entry is an object or a directory.
type entry struct {
	name string
	dir  bool
	object
}

func (e entry) Name() string               { return e.name }
func (e entry) Size() int64                { return e.size }
func (e entry) ModTime() time.Time         { return e.time }
func (e entry) IsDir() bool                { return e.dir }
func (e entry) Sys() any                   { return e.object }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }

func (e entry) Mode() fs.FileMode {
	if e.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}

// directory is an open directory.
type directory struct {
	info fs.FileInfo
	b    *bucket
	name string
	left []fs.DirEntry
	read bool
}

func (d *directory) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *directory) Close() error               { return nil }

func (d *directory) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a directory")}
}

// ReadDir implements [fs.ReadDirFile].
func (d *directory) ReadDir(n int) (some []fs.DirEntry, err error) {
	if !d.read {
		d.read = true
		if d.left, err = d.b.ReadDir(d.name); err != nil {
			return nil, err
		}
	}
	if n <= 0 {
		n = len(d.left)
	} else if len(d.left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.left))
	some, d.left = d.left[:n], d.left[n:]
	return some, nil
}

// file is an open object. Reading from front to back is one request, after the first block,
// which is kept: most objects are read by their beginning first, and many are no larger.
type file struct {
	b    *bucket
	name string
	of   object
	at   int64
	body *body // from at on; nil: not begun
}

func (f *file) Stat() (fs.FileInfo, error) { return entry{name: path.Base(f.name), object: f.of}, nil }

// Close ends a request that is under way.
func (f *file) Close() error {
	if f.body == nil {
		return nil
	}
	return f.body.Close()
}

// Read implements [io.Reader].
func (f *file) Read(p []byte) (n int, err error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case f.at >= f.of.size:
		return 0, io.EOF
	case f.at < blockSize:
		p = p[:min(int64(len(p)), blockSize-f.at)]
		if n, err = f.ReadAt(p, f.at); n > 0 {
			err = nil
		}
	default:
		if f.body == nil {
			f.body = &body{file: f, from: f.at, end: f.of.size}
		}
		n, err = f.body.Read(p)
	}
	f.at += int64(n)
	return n, err
}

// ReadAt implements [io.ReaderAt]. A long piece is one request; short ones are of blocks that
// are kept.
func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
	}
	if most := f.of.size - off; int64(len(p)) > most {
		p, err = p[:max(0, most)], io.EOF
	}
	if len(p) >= blockSize {
		b := &body{file: f, from: off, end: off + int64(len(p))}
		defer b.Close()
		n, failed := io.ReadFull(b, p)
		if failed != nil {
			return n, failed
		}
		return n, err
	}
	for n < len(p) {
		at := off + int64(n)
		block, failed := f.b.blocks.get(f, at/blockSize)
		if failed != nil {
			return n, failed
		}
		n += copy(p[n:], block[at%blockSize:])
	}
	return n, err
}

// body reads part of an object, and goes on after a connection that broke.
type body struct {
	file      *file
	from, end int64
	in        io.ReadCloser
	broken    int // connections, one after another, that gave nothing
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	for b.from < b.end {
		if b.in == nil {
			in, err := b.file.b.get(b.file.name, b.file.of, b.from, b.end-b.from)
			if err != nil {
				return 0, err
			}
			b.in = in
		}
		n, err := b.in.Read(p[:min(int64(len(p)), b.end-b.from)])
		b.from += int64(n)
		if n > 0 {
			b.broken = 0
			return n, nil
		}
		if err == nil {
			continue
		}
		b.Close()
		if b.broken++; b.broken == tries {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, b.file.b.error("read", b.file.name, err)
		}
	}
	return 0, io.EOF
}

// Close ends the request.
func (b *body) Close() error {
	in := b.in
	b.in = nil
	if in == nil {
		return nil
	}
	return in.Close()
}
