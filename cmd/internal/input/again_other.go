//go:build !unix

package input

import "syscall"

// machineErrors are errors of system calls that do not depend on the file's content:
// Windows' ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY, ERROR_HANDLE_DISK_FULL,
// ERROR_DISK_FULL and ERROR_IO_DEVICE.
var machineErrors = []error{syscall.Errno(4), syscall.Errno(8), syscall.Errno(39), syscall.Errno(112), syscall.Errno(1117)}
