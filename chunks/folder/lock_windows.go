package folder

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// OpenCarefully is a flag of [OpenFile] that has no effect here.
const OpenCarefully = 0

// OpenFile is os.OpenFile, but lets others rename and remove the file while it is open, as
// on other systems.
func OpenFile(path string, flags int) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, access(flags), share, nil, disposition(flags), windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

func access(flags int) uint32 {
	if flags&os.O_RDWR != 0 {
		return windows.GENERIC_READ | windows.GENERIC_WRITE
	}
	return windows.GENERIC_READ
}

func disposition(flags int) uint32 {
	switch {
	case flags&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return windows.CREATE_NEW
	case flags&(os.O_CREATE|os.O_TRUNC) == os.O_CREATE|os.O_TRUNC:
		return windows.CREATE_ALWAYS
	case flags&os.O_CREATE != 0:
		return windows.OPEN_ALWAYS
	}
	return windows.OPEN_EXISTING
}

// RemoveDir removes an empty directory, and nothing else of that name.
func RemoveDir(path string) error {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	return os.NewSyscallError("RemoveDirectory", windows.RemoveDirectory(name))
}

// lockedAt is the offset of the locked byte, in units of 4 GiB. On this system locks keep
// others from reading, so it is a byte that no file has.
const lockedAt = 1 << 30

// TryLock takes a shared or an exclusive lock of f without waiting. The error is [ErrLocked]
// if the lock of another process is in the way.
func TryLock(f *os.File, shared bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockedAt})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return os.NewSyscallError("LockFileEx", err)
}

// Unlock releases the lock of f.
func Unlock(f *os.File) error {
	return os.NewSyscallError("UnlockFileEx", windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockedAt}))
}
