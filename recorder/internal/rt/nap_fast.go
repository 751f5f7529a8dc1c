//go:build linux && (amd64 || arm64) && !gprof_portable

package rt

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Nap is the sleep of one goroutine, which others can end. It is one of the
// kernel's: as long as a program has no timer of Go's, the scheduler need not look
// at the clock each time that it picks a goroutine, and a program that does little
// else would be slower by a tenth for our sake.
type Nap struct{ woken uint32 }

// Sleep sleeps that long, or until wake, or not at all if wake was called since
// the last sleep.
func (n *Nap) Sleep(d time.Duration) {
	left := unix.NsecToTimespec(int64(d))
	await(&n.woken, &left)
	atomic.StoreUint32(&n.woken, 0)
}

// Wake makes a system call, but none that waits, and one a sleep at most. A pinned
// goroutine may call it: the runtime need not know.
func (n *Nap) Wake() {
	if atomic.SwapUint32(&n.woken, 1) == 0 {
		syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&n.woken)), futexWakePrivate, 1, 0, 0, 0)
	}
}

const (
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)

// await waits until *woken is not 0. The processor is given to other goroutines at
// once: after a plain system call the runtime may take 10 ms to notice. Between
// the two calls of the runtime the stack must not move, hence nosplit.
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
