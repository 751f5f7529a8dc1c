// Package digest hashes a file while it is read for the first time, so that what its processes are
// called depends on its contents, and reading is not done twice for that.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
)

// Reader hashes the bytes of a file on the first pass through it.
type Reader struct {
	io.ReaderAt
	sum  hash.Hash
	next int64
}

// New returns a Reader of r.
func New(r io.ReaderAt) *Reader { return &Reader{ReaderAt: r, sum: sha256.New()} }

// ReadAt implements [io.ReaderAt].
func (d *Reader) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(p, off)
	if off <= d.next && off+int64(n) > d.next {
		d.sum.Write(p[d.next-off : n])
		d.next = off + int64(n)
	}
	return n, err
}

// Sum is the beginning of the hash of a file of size bytes. What the first pass left, because it ended early, is read now, as far as it
// can be: the hash does not depend on how much is read at once.
func (d *Reader) Sum(size int64) uint64 {
	if d.next < size {
		io.Copy(d.sum, io.NewSectionReader(d.ReaderAt, d.next, size-d.next))
	}
	return binary.BigEndian.Uint64(d.sum.Sum(nil))
}
