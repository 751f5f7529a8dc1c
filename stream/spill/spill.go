// Package spill keeps data that does not fit into memory in temporary files. Where the
// system allows it, such a file has no name, so that nothing is left if the process is
// killed.
package spill

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Temp is an open temporary file. Close deletes it.
type Temp struct {
	*os.File
	name string // "" if the file has none
}

// Create makes a temporary file in dir; "" is the system's directory for them.
func Create(dir string) (*Temp, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	return create(dir)
}

// createNamed makes a file with a name, which it removes if the system lets open files
// lose it.
func createNamed(dir string) (*Temp, error) {
	f, err := os.CreateTemp(dir, "gprof-spill-*")
	if err != nil {
		return nil, err
	}
	t := &Temp{File: f}
	if os.Remove(f.Name()) != nil {
		t.name = f.Name()
	}
	return t, nil
}

// Close closes the file and deletes it.
func (t *Temp) Close() error {
	err := t.File.Close()
	if t.name != "" {
		err = errors.Join(err, os.Remove(t.name))
	}
	return err
}

// bufferBytes is how much is written at a time, and kept in memory before there is a
// file.
const bufferBytes = 256 << 10

// reserveBytes is the disk space that is reserved at a time, which makes writing a third
// cheaper.
const reserveBytes = 32 << 20

// File is bytes that are written in order and read at any place. A few are in memory,
// more of them in a temporary file, which is made when it is needed. The zero File is in
// the system's directory for temporary files. After an error nothing is written or read,
// and all calls return it.
type File struct {
	dir  string
	temp *Temp
	buf  []byte // the last bytes, not in the file yet
	size int64  // with buf
	room int64  // reserved on the disk
	err  error  // the first one
}

// New returns a File whose temporary file will be in dir; "" is the system's directory.
func New(dir string) *File { return &File{dir: dir} }

// Size is how much was written.
func (f *File) Size() int64 { return f.size }

// Err is the first error.
func (f *File) Err() error { return f.err }

// fail keeps an error, if it is the first one.
func (f *File) fail(err error) error {
	if f.err == nil && err != nil {
		f.err = fmt.Errorf("spill file: %w", err)
	}
	return f.err
}

// stored is how many bytes are in the temporary file.
func (f *File) stored() int64 { return f.size - int64(len(f.buf)) }

// Write appends p.
func (f *File) Write(p []byte) (int, error) {
	if len(f.buf)+len(p) > bufferBytes {
		f.flush()
		if len(p) > bufferBytes {
			f.store(p)
			return len(p), f.err
		}
	}
	if f.buf == nil {
		f.buf = make([]byte, 0, bufferBytes)
	}
	f.buf = append(f.buf, p...)
	f.size += int64(len(p))
	return len(p), f.err
}

// flush moves the buffer to the temporary file.
func (f *File) flush() {
	p := f.buf
	f.size, f.buf = f.stored(), f.buf[:0]
	f.store(p)
}

// store appends p to the temporary file; the buffer must be empty.
func (f *File) store(p []byte) {
	if f.err == nil && f.temp == nil {
		var err error
		f.temp, err = Create(f.dir)
		f.fail(err)
	}
	if f.err == nil {
		if f.size+int64(len(p)) > f.room {
			reserve(f.temp.File, f.room, reserveBytes)
			f.room += reserveBytes
		}
		_, err := f.temp.WriteAt(p, f.size)
		f.fail(err)
	}
	f.size += int64(len(p))
}

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	if f.err != nil {
		return 0, f.err
	}
	if stored := f.stored() - off; stored > 0 {
		if n, err = f.temp.ReadAt(p[:min(int64(len(p)), stored)], off); err != nil {
			return n, f.fail(err)
		}
	}
	if at := off + int64(n); n < len(p) && at < f.size {
		n += copy(p[n:], f.buf[at-f.stored():])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt replaces bytes that were written before.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if off < f.stored() && off+int64(len(p)) > f.stored() {
		f.flush()
	}
	if f.err != nil {
		return 0, f.err
	}
	if off >= f.stored() {
		return copy(f.buf[off-f.stored():], p), nil
	}
	n, err := f.temp.WriteAt(p, off)
	return n, f.fail(err)
}

// Reset forgets all bytes; their space on the disk is used again.
func (f *File) Reset() { f.size, f.buf = 0, f.buf[:0] }

// Close deletes the file, and returns the first error.
func (f *File) Close() error {
	if f.temp != nil {
		f.fail(f.temp.Close())
		f.temp = nil
	}
	return f.err
}
