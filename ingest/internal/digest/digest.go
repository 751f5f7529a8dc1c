// Package digest hashes a file while it is read for the first time, so that what its processes are
// called depends on its contents, and reading is not done twice for that.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
)

// Reader hashes the bytes of a file on the first pass through it. Bytes behind the last that was read
// have no part in it.
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

// Sum is the beginning of the hash of what was read.
func (d *Reader) Sum() uint64 { return binary.BigEndian.Uint64(d.sum.Sum(nil)) }
