package mapping

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// MappedKeepsName says whether a mapped file cannot be removed or replaced.
const MappedKeepsName = true

// mapFile maps the beginning of a file. The system writes what is stored there to the file,
// even if the process is terminated.
func mapFile(f *os.File, size int) ([]byte, error) {
	mapping, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READWRITE, uint32(uint64(size)>>32), uint32(size), nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	at, err := windows.MapViewOfFile(mapping, windows.FILE_MAP_READ|windows.FILE_MAP_WRITE, 0, 0, uintptr(size))
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("MapViewOfFile", err), windows.CloseHandle(mapping))
	}
	// The view keeps the mapping alive. Its address is outside of Go's memory.
	mem := unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
	return mem, os.NewSyscallError("CloseHandle", windows.CloseHandle(mapping))
}

// RemapFile is not needed, see [MappedKeepsName].
func RemapFile(*os.File, []byte) error { return errors.ErrUnsupported }

// unmapFile undoes mapFile.
func unmapFile(mem []byte) error {
	return os.NewSyscallError("UnmapViewOfFile", windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))))
}

func anonymous(size int) ([]byte, error) { return heapMemory(size) }

func releaseAnonymous([]byte) error { return nil }
