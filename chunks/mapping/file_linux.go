package mapping

import (
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

// populate faults the pages in for writing with one call, which the kernel supports since
// 5.14.
func populate(mem []byte) bool { return unix.Madvise(mem, unix.MADV_POPULATE_WRITE) == nil }
