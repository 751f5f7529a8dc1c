// Package mapping maps memory: of files, or anonymous. Bytes that are stored in a mapped
// file survive the process. If the file is cut short by others, that must not kill the
// process, see [CatchFaults].
package mapping

import (
	"encoding/binary"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Mapping is memory of a file, or anonymous memory.
type Mapping struct {
	bytes   []byte
	guard   *faultRange // nil: the bytes cannot be taken away
	file    *os.File    // whose space is still to be reserved; nil: it is
	release func() error
}

var held atomic.Int64

// Held is how many bytes this process has mapped by this package. All pages of a [Mapping] are
// resident from [Mapping.FaultIn] on.
func Held() int64 { return held.Load() }

// MapFile maps the beginning of a file.
func MapFile(f *os.File, size int) ([]byte, error) {
	mem, err := mapFile(f, size)
	held.Add(int64(len(mem)))
	return mem, err
}

// UnmapFile undoes MapFile.
func UnmapFile(mem []byte) error {
	held.Add(-int64(len(mem)))
	return unmapFile(mem)
}

// OfFile extends an open, empty file to a size and maps it. Space on the disk is reserved
// for each byte: a mapped byte without it would be lost when the disk is full, see
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
	return &Mapping{bytes: mem, guard: guard, release: func() error { return unmapProtected(mem, guard) }}, nil
}

// plenty is how many times as much room as a file takes there must be, if its space is reserved later.
const plenty = 64

// OfFileSoon is OfFile, except that [Mapping.FaultIn] reserves the space if the disk has plenty of it. That is most of the
// time that OfFile takes. The mapping closes the file.
func OfFileSoon(f *os.File, size int) (m *Mapping, err error) {
	if freeBytes(f) < plenty*int64(size) {
		m, err = OfFile(f, size)
		return m, errors.Join(err, f.Close())
	}
	var mem []byte
	var guard *faultRange
	if err = f.Truncate(int64(size)); err == nil {
		mem, guard, err = mapProtected(f, size)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Mapping{bytes: mem, guard: guard, file: f, release: func() error { return unmapProtected(mem, guard) }}, nil
}

// Anonymous maps anonymous memory. Close calls release. The last user of the bytes gives them
// to [ReleaseAnonymous].
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
	held.Add(int64(size))
	return &Mapping{bytes: mem, release: release}, nil
}

// ReleaseAnonymous gives back the bytes of an anonymous mapping.
func ReleaseAnonymous(mem []byte) error {
	held.Add(-int64(len(mem)))
	return releaseAnonymous(mem)
}

// Bytes returns the memory, nil once the mapping is closed.
func (m *Mapping) Bytes() []byte { return m.bytes }

// Lost is how many bytes are gone because the file was cut short by others, as far as this
// was noticed by touching them.
func (m *Mapping) Lost() int {
	if m == nil {
		return 0
	}
	return m.guard.lost()
}

// Close makes the memory invalid.
func (m *Mapping) Close() error {
	m.bytes, m.guard = nil, nil
	return errors.Join(m.closeFile(), m.release())
}

func (m *Mapping) closeFile() error {
	f := m.file
	if m.file = nil; f == nil {
		return nil
	}
	return f.Close()
}

// littleEndian returns an error on other machines, as words are stored in the byte order of
// the file.
func littleEndian() error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return errors.ErrUnsupported
	}
	return nil
}

// CannotReserve reports whether an error means that the file system cannot reserve space.
func CannotReserve(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EPERM)
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

// FaultIn makes every page ready for writing without changing it. Others may write meanwhile. The error is that space can't
// be reserved; then the caller may try again.
func (m *Mapping) FaultIn() error {
	mem := m.bytes
	if m.file != nil {
		if err := Reserve(m.file, int64(len(mem))); err != nil && !CannotReserve(err) {
			return err
		}
		if err := m.closeFile(); err != nil {
			return err
		}
	}
	if populate(mem) {
		return nil
	}
	for at := 0; at < len(mem); at += os.Getpagesize() {
		atomic.AddUint64((*uint64)(unsafe.Pointer(&mem[at])), 0)
	}
	return nil
}

// Word returns the 8-byte word at an offset, a multiple of 8, of mapped memory. Files are
// mapped on little-endian machines only, so it has the byte order of the file.
func Word(mem []byte, at int) *uint64 { return (*uint64)(unsafe.Pointer(&mem[at : at+8][0])) }
