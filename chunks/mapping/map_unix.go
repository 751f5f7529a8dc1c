//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mapping

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapFile maps the beginning of a file.
func mapFile(f *os.File, size int) ([]byte, error) {
	if err := littleEndian(); err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return mem, os.NewSyscallError("mmap", err)
}

// RemapFile maps another file at the address of memory from [MapFile], which is mapped at
// every moment.
func RemapFile(f *os.File, mem []byte) error {
	_, err := unix.MmapPtr(int(f.Fd()), 0, unsafe.Pointer(&mem[0]), uintptr(len(mem)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	return os.NewSyscallError("mmap", err)
}

// unmapFile undoes mapFile.
func unmapFile(mem []byte) error { return os.NewSyscallError("munmap", unix.Munmap(mem)) }

// anonymous returns memory that is no file's, outside of Go's heap: it must not change when the
// host's garbage is collected.
func anonymous(size int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	return mem, os.NewSyscallError("mmap", err)
}

func releaseAnonymous(mem []byte) error { return unmapFile(mem) }
