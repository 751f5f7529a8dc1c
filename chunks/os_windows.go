package chunks

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	openCarefully = 0

	// mappedKeepsName: nobody can remove or replace a file that is mapped.
	mappedKeepsName = true
)

// openFile is os.OpenFile, and lets others rename and remove the file while it is
// open, as they can elsewhere.
func openFile(path string, flags int) (*os.File, error) {
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

// removeDir removes an empty directory, and nothing else of that name.
func removeDir(path string) error {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	return os.NewSyscallError("RemoveDirectory", windows.RemoveDirectory(name))
}

// mapFile maps the beginning of a file. What is stored there is the system's from
// then on: it gets into the file also when the process is terminated.
func mapFile(f *os.File, size int) ([]byte, error) {
	mapping, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READWRITE, uint32(uint64(size)>>32), uint32(size), nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	at, err := windows.MapViewOfFile(mapping, windows.FILE_MAP_READ|windows.FILE_MAP_WRITE, 0, 0, uintptr(size))
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("MapViewOfFile", err), windows.CloseHandle(mapping))
	}
	// The view keeps the mapping. Its address is none that Go's memory can have.
	mem := unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
	return mem, os.NewSyscallError("CloseHandle", windows.CloseHandle(mapping))
}

// remapFile is not needed, see mappedKeepsName.
func remapFile(*os.File, []byte) error { return errors.ErrUnsupported }

func unmapFile(mem []byte) error {
	return os.NewSyscallError("UnmapViewOfFile", windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))))
}

// lockedAt is the offset of the byte that is locked: locks keep others from
// reading here, so it is one that no file has.
const lockedAt = 1 << 30

// lockFile takes the lock of f without waiting, one that others may share or
// one of its own; [ErrLocked] if somebody else's is in the way.
func lockFile(f *os.File, shared bool) error {
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

// unlockFile gives back the lock of f.
func unlockFile(f *os.File) error {
	return os.NewSyscallError("UnlockFileEx", windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockedAt}))
}
