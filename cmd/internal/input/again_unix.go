//go:build unix

package input

import "syscall"

// machineErrors are errors of system calls that do not depend on the file's content.
var machineErrors = []error{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EIO, // disks, and limits
	syscall.ESTALE, syscall.ETIMEDOUT, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, // networks
	syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.EBUSY,
}
