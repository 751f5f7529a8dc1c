// Package mapping maps files, and memory of no file. What is stored in a mapped file survives
// the process. A file that somebody cuts short must not kill it: see [CatchFaults].
package mapping

import (
	"encoding/binary"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Mapping is memory of a file, or of none.
type Mapping struct {
	bytes   []byte
	guard   *faultRange // nil: nobody can take the bytes away
	release func() error
}

// OfFile gives an open file that is empty so many bytes and maps them. Each has a place
// on the disk, for a mapped byte without one would be lost when the disk is full, see
// [CatchFaults]. The file may be closed.
func OfFile(f *os.File, size int) (*Mapping, error) {
	err := Reserve(f, int64(size))
	if CannotReserve(err) {
		err = writeZeros(f, size)
	}
	if err != nil {
		return nil, err
	}
	mem, guard, err := mapProtected(f, size)
	if err != nil {
		return nil, err
	}
	faultIn(mem)
	return &Mapping{mem, guard, func() error { return unmapProtected(mem, guard) }}, nil
}

// Anonymous is memory of no file. Close calls release; whoever has the bytes last gives
// them to [ReleaseAnonymous].
func Anonymous(size int, release func() error) (*Mapping, error) {
	if err := littleEndian(); err != nil {
		return nil, err
	}
	if size <= 0 {
		return nil, syscall.EINVAL
	}
	mem, err := anonymous(size)
	if err != nil {
		return nil, err
	}
	faultIn(mem)
	return &Mapping{mem, nil, release}, nil
}

// ReleaseAnonymous gives the bytes of an anonymous mapping back.
func ReleaseAnonymous(mem []byte) error { return releaseAnonymous(mem) }

// Bytes are nil once the mapping is closed.
func (m *Mapping) Bytes() []byte { return m.bytes }

// Lost is how many bytes the file has no more because somebody else cut it short, as far
// as anybody touched them.
func (m *Mapping) Lost() int {
	if m == nil {
		return 0
	}
	return m.guard.lost()
}

// Close makes the memory invalid.
func (m *Mapping) Close() error {
	m.bytes, m.guard = nil, nil
	return m.release()
}

// littleEndian is an error on other machines: words are stored as they lie in the file.
func littleEndian() error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return errors.ErrUnsupported
	}
	return nil
}

// CannotReserve reports whether an error is that the file system does not know how to
// reserve.
func CannotReserve(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}

func writeZeros(f *os.File, size int) error {
	zeros := make([]byte, 64<<10)
	for at := 0; at < size; at += len(zeros) {
		if _, err := f.WriteAt(zeros[:min(len(zeros), size-at)], int64(at)); err != nil {
			return err
		}
	}
	return nil
}

// faultIn has every page ready for writing, and changes nothing.
func faultIn(mem []byte) {
	if populate(mem) {
		return
	}
	for at := 0; at < len(mem); at += os.Getpagesize() {
		atomic.AddUint64((*uint64)(unsafe.Pointer(&mem[at])), 0)
	}
}

// Word is the 8-byte word at an offset of mapped memory that 8 divides. Files are mapped
// on little-endian machines only, so it has the file's byte order.
func Word(mem []byte, at int) *uint64 { return (*uint64)(unsafe.Pointer(&mem[at : at+8][0])) }
