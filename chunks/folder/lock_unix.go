//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"os"

	"golang.org/x/sys/unix"
)

// OpenCarefully is a flag of [OpenFile]: it neither follows a link nor waits for the other
// end of a pipe.
const OpenCarefully = unix.O_NOFOLLOW | unix.O_NONBLOCK

// TryLock takes a shared or an exclusive lock of f without waiting. The error is [ErrLocked]
// if the lock of another process is in the way.
func TryLock(f *os.File, shared bool) error {
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

// Unlock releases the lock of f.
func Unlock(f *os.File) error {
	return os.NewSyscallError("flock", unix.Flock(int(f.Fd()), unix.LOCK_UN))
}
