package mapping

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// Reserve allocates the blocks of a file. On tmpfs signals interrupt it, and Go sends its
// own threads signals all the time.
func Reserve(f *os.File, size int64) error {
	err := unix.EINTR
	for err == unix.EINTR {
		err, _ = unix.Fallocate(int(f.Fd()), 0, 0, size).(unix.Errno)
	}
	if err != 0 {
		return os.NewSyscallError("fallocate", err)
	}
	return nil
}

// freeBytes is how much is free in the file system of f, 0 if that is not known.
func freeBytes(f *os.File) int64 {
	var s unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &s) != nil {
		return 0
	}
	size := max(1, s.Bsize)
	return int64(min(s.Bavail, math.MaxInt64/uint64(size))) * size
}

// populate faults the pages in for writing with one call, which the kernel supports since
// 5.14.
func populate(mem []byte) bool { return unix.Madvise(mem, unix.MADV_POPULATE_WRITE) == nil }
