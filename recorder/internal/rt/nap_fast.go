//go:build linux && (amd64 || arm64) && !gprof_portable

package rt

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Nap is the sleep of one goroutine, which others can end. It sleeps in the kernel, without a timer of Go's: if a program
// has no such timers, the scheduler need not read the clock each time that it picks a goroutine. A timer of ours would
// slow a program that does little else by a tenth.
type Nap struct{ woken uint32 }

// Sleep sleeps that long, or until Wake is called, or not at all if Wake was called since the last Sleep. It reports
// whether Wake was called.
func (n *Nap) Sleep(d time.Duration) (woken bool) {
	left := unix.NsecToTimespec(int64(d))
	await(&n.woken, &left)
	return atomic.SwapUint32(&n.woken, 0) != 0
}

// Wake ends the sleep. It makes at most one system call for each sleep, which does not wait. A pinned goroutine may call
// it, because the runtime need not know about that system call.
func (n *Nap) Wake() {
	if atomic.SwapUint32(&n.woken, 1) == 0 {
		syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&n.woken)), futexWakePrivate, 1, 0, 0, 0)
	}
}

const (
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)

// await waits until *woken is not 0. It gives the processor to other goroutines at once; with a plain system call the
// runtime may take 10 ms to notice. The stack must not move between the two calls of the runtime, hence nosplit.
//
//go:nosplit
//go:norace
//go:noinline
func await(woken *uint32, left *unix.Timespec) {
	entersyscallblock()
	syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(woken)), futexWaitPrivate, 0, uintptr(unsafe.Pointer(left)), 0, 0)
	exitsyscall()
}

//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()
