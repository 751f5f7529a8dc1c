package folder

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"gprof/chunks/mapping"
)

// Memory is a folder in this process' memory. It needs no file system, and ends with the
// process.
type Memory struct {
	mu    sync.Mutex
	files map[string]*memoryFile
}

// NewMemory returns an empty folder.
func NewMemory() *Memory { return &Memory{files: map[string]*memoryFile{}} }

// memoryFile is one file. It lives for as long as it has a name, is mapped, or is open.
type memoryFile struct {
	mu     sync.RWMutex
	data   []byte
	mapped bool // data is anonymous memory
	users  int
}

// drop ends one use of the file.
func (f *memoryFile) drop() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users--; f.users > 0 || !f.mapped {
		return nil
	}
	return f.replace(nil)
}

// replace gives the file other bytes, which are on the heap. f.mu is held.
func (f *memoryFile) replace(data []byte) error {
	old, mapped := f.data, f.mapped
	f.data, f.mapped = data, false
	if !mapped {
		return nil
	}
	return mapping.ReleaseAnonymous(old)
}

// use notes one more user.
func (f *memoryFile) use() {
	f.mu.Lock()
	f.users++
	f.mu.Unlock()
}

func (f *memoryFile) truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replace(bytes.Clone(f.data[:min(int64(len(f.data)), size)]))
}

// read copies bytes that may be changing at this moment. As with a mapped file, readers
// know by commit words and epochs what is valid.
//
//go:norace
func (f *memoryFile) read(dst []byte, off int64) (n int) {
	if off < int64(len(f.data)) {
		n = copy(dst, f.data[off:])
	}
	return n
}

func (m *Memory) add(name string, f *memoryFile) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files[name] != nil {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	f.users++
	m.files[name] = f
	return nil
}

// file finds a file, and counts one more user of it if use is set.
func (m *Memory) file(op, name string, use bool) (*memoryFile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.files[name]
	if f == nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	if use {
		f.use()
	}
	return f, nil
}

// Create makes a file.
func (m *Memory) Create(name string) (File, error) {
	f := &memoryFile{users: 1}
	if err := m.add(name, f); err != nil {
		return nil, err
	}
	return &openFile{file: f, name: name}, nil
}

// Map makes a file of memory, outside of Go's heap where the system supports that.
func (m *Memory) Map(name string, size int) (*mapping.Mapping, error) {
	f := &memoryFile{users: 1, mapped: true}
	mapping, err := mapping.Anonymous(size, f.drop)
	if err != nil {
		return nil, err
	}
	f.data = mapping.Bytes()
	if err := m.add(name, f); err != nil {
		mapping.Close()
		return nil, err
	}
	return mapping, nil
}

// MapSoon is Map.
func (m *Memory) MapSoon(name string, size int) (*mapping.Mapping, error) { return m.Map(name, size) }

// Truncate cuts a file short.
func (m *Memory) Truncate(name string, size int64) error {
	f, err := m.file("truncate", name, false)
	if err != nil {
		return err
	}
	return f.truncate(size)
}

// Rename gives a file another name.
func (m *Memory) Rename(from, to string) error {
	f, err := m.file("rename", from, false)
	if err != nil {
		return err
	}
	m.mu.Lock()
	old := m.files[to]
	delete(m.files, from)
	m.files[to] = f
	m.mu.Unlock()
	if old != nil {
		return old.drop()
	}
	return nil
}

// Remove removes a file. It can still be read where it is open.
func (m *Memory) Remove(name string) error {
	f, err := m.file("remove", name, false)
	if err != nil {
		return err
	}
	m.mu.Lock()
	delete(m.files, name)
	m.mu.Unlock()
	return f.drop()
}

// Clear removes all files. Those that are mapped or open can be used as before.
func (m *Memory) Clear() (errs error) {
	for _, name := range m.names() {
		errs = errors.Join(errs, m.Remove(name))
	}
	return errs
}

// Open opens a file for reading; "." is the folder.
func (m *Memory) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return &openMemory{folder: m}, nil
	}
	f, err := m.file("open", name, true)
	if err != nil {
		return nil, err
	}
	return &openFile{file: f, name: name}, nil
}

// openFile is an open file.
type openFile struct {
	file *memoryFile
	name string
	at   int64 // of the next Read or Write
}

func (f *openFile) Read(b []byte) (n int, err error) {
	n, err = f.ReadAt(b, f.at)
	f.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (f *openFile) ReadAt(b []byte, off int64) (n int, err error) {
	f.file.mu.RLock()
	n = f.file.read(b, off)
	f.file.mu.RUnlock()
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

func (f *openFile) Write(b []byte) (n int, err error) {
	n, err = f.WriteAt(b, f.at)
	f.at += int64(n)
	return n, err
}

func (f *openFile) WriteAt(b []byte, off int64) (n int, err error) {
	f.file.mu.Lock()
	defer f.file.mu.Unlock()
	if end := off + int64(len(b)); end > int64(len(f.file.data)) {
		f.file.data = append(f.file.data, make([]byte, end-int64(len(f.file.data)))...)
	}
	return copy(f.file.data[off:], b), nil
}

func (f *openFile) Truncate(size int64) error { return f.file.truncate(size) }

func (f *openFile) Stat() (fs.FileInfo, error) {
	f.file.mu.RLock()
	defer f.file.mu.RUnlock()
	return memoryInfo{path.Base(f.name), int64(len(f.file.data)), 0o400}, nil
}

func (f *openFile) Close() error { return f.file.drop() }

// openMemory is an open folder, which lists its files.
type openMemory struct {
	folder *Memory
	listed int
}

func (d *openMemory) Stat() (fs.FileInfo, error) { return memoryInfo{".", 0, fs.ModeDir | 0o500}, nil }

func (d *openMemory) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: fs.ErrInvalid}
}

func (d *openMemory) Close() error { return nil }

func (d *openMemory) ReadDir(n int) ([]fs.DirEntry, error) {
	names := d.folder.names()
	names = names[min(d.listed, len(names)):]
	if n > 0 {
		if len(names) == 0 {
			return nil, io.EOF
		}
		names = names[:min(n, len(names))]
	}
	d.listed += len(names)
	var entries []fs.DirEntry
	for _, name := range names {
		if info, err := fs.Stat(d.folder, name); err == nil { // otherwise it was removed meanwhile
			entries = append(entries, fs.FileInfoToDirEntry(info))
		}
	}
	return entries, nil
}

func (m *Memory) names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.files))
}

// memoryInfo describes a file, or the folder.
type memoryInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i memoryInfo) Name() string       { return i.name }
func (i memoryInfo) Size() int64        { return i.size }
func (i memoryInfo) Mode() fs.FileMode  { return i.mode }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memoryInfo) Sys() any           { return nil }
