// Package spill buffers bytes that belong further down in a file: a little in memory, the rest in a
// temporary file.
package spill

import (
	"fmt"

	"gprof/stream/spill"
)

// blockSize is how much a Buffer collects before it is spilled: enough that a write costs little,
// and that a block is worth a piece of an output.
const blockSize = 64 << 10

// File is where buffers are spilled. It is made with the first byte, and unlinked where possible.
// After an error nothing is written, and all calls return it.
type File struct {
	dir  string
	file *spill.Temp
	size int64
	err  error
}

// New returns a File in dir; "" is the system's directory for temporary files.
func New(dir string) *File { return &File{dir: dir} }

// Rewind reuses the space. All buffers of the file must be empty.
func (f *File) Rewind() { f.size = 0 }

// Err returns the first error.
func (f *File) Err() error { return f.err }

// Close deletes the file, and returns the first error before.
func (f *File) Close() error {
	if f.file != nil {
		// Nobody needs it any more, so errors don't matter.
		f.file.Close()
		f.file = nil
	}
	return f.err
}

// write appends p and returns its place.
func (f *File) write(p []byte) extent {
	at := extent{f.size, len(p)}
	if f.err == nil && f.file == nil {
		var err error
		f.file, err = spill.Create(f.dir)
		f.fail(err)
	}
	if f.err == nil {
		_, err := f.file.WriteAt(p, f.size)
		f.fail(err)
	}
	f.size += int64(len(p))
	return at
}

// read returns an extent, in buf if that is large enough.
func (f *File) read(buf []byte, at extent) []byte {
	if cap(buf) < at.size {
		buf = make([]byte, at.size)
	}
	buf = buf[:at.size]
	if f.err == nil {
		_, err := f.file.ReadAt(buf, at.offset)
		f.fail(err)
	}
	return buf
}

func (f *File) fail(err error) {
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("keeping columns aside: %w", err)
	}
}

// extent is a part of the file.
type extent struct {
	offset int64
	size   int
}

// Buffer is bytes in the order in which they were written.
type Buffer struct {
	file *File
	old  []extent
	last []byte // not spilled
}

func (f *File) NewBuffer() *Buffer { return &Buffer{file: f} }

// Write adds p, which will be in one block.
func (r *Buffer) Write(p []byte) (int, error) {
	r.last = append(r.last, p...)
	if len(r.last) >= blockSize {
		r.old = append(r.old, r.file.write(r.last))
		r.last = r.last[:0]
	}
	return len(p), r.file.err
}

// Drain calls each for the blocks in order, valid until it returns, and empties the buffer.
func (r *Buffer) Drain(each func(block []byte)) error {
	var buf []byte
	for _, at := range r.old {
		buf = r.file.read(buf, at)
		if r.file.err != nil {
			return r.file.err
		}
		each(buf)
	}
	if len(r.last) > 0 {
		each(r.last)
	}
	r.old, r.last = r.old[:0], r.last[:0]
	return r.file.err
}
