package rt

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// readRandom fills b, of at most 256 bytes, which the kernel does not interrupt. False: it can't.
func readRandom(b []byte) bool {
	n, _, errno := unix.Syscall(unix.SYS_GETRANDOM, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0)
	return errno == 0 && int(n) == len(b)
}
