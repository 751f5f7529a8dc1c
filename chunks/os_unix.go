//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package chunks

import (
	"encoding/binary"
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openCarefully neither follows a link nor waits for the other end of a pipe.
const openCarefully = unix.O_NOFOLLOW | unix.O_NONBLOCK

func mapFile(f *os.File, size int) ([]byte, error) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.ErrUnsupported // words are stored as they lie in the file
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return mem, os.NewSyscallError("mmap", err)
}

// remapFile has memory from mapFile show another file. At no moment is it not
// mapped.
func remapFile(f *os.File, mem []byte) error {
	_, err := unix.MmapPtr(int(f.Fd()), 0, unsafe.Pointer(&mem[0]), uintptr(len(mem)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	return os.NewSyscallError("mmap", err)
}

func unmapFile(mem []byte) error { return os.NewSyscallError("munmap", unix.Munmap(mem)) }

// lockFile takes the lock of f without waiting, one that others may share or
// one of its own; [ErrLocked] if somebody else's is in the way.
func lockFile(f *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return ErrLocked
	}
	return os.NewSyscallError("flock", err)
}

// unlockFile gives back the lock of f.
func unlockFile(f *os.File) error {
	return os.NewSyscallError("flock", unix.Flock(int(f.Fd()), unix.LOCK_UN))
}
