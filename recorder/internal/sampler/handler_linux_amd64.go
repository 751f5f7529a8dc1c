//go:build !gprof_portable && !go1.28

package sampler

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/recorder/internal/rt"
)

// sharesStack says whether a function without a frame has its caller's stack pointer. On this architecture it
// has not: its return address lies below that.
const sharesStack = false

// native is what this processor's handler needs besides. The thread's register leads to g wherever
// the handler comes.
type native struct {
	switched uintptr // sched.pc of a g whose stack systemstack or asmcgocall has left; 0 unknown
}

// search finds the values of native.
type search struct{ native }

// meet searches from the goroutine of g.
func (s *search) meet(g uintptr) {
	rt.GoroutineNumber() // this goes through systemstack
	pc := uintptr(load64(g + offSched + 8))
	if f := runtime.FuncForPC(pc); f != nil && f.Name() == "runtime.systemstack_switch" {
		s.switched = pc
	}
}

// found tells what was found. Without it stacks end where C has called Go.
func (s *search) found(n *native) bool {
	*n = s.native
	return true
}

// forgetOwn clears a word of the m that would be mistaken for the one searched for: without cgo, the thread keeps
// the g that it runs, be it g0 or a goroutine, in its m, too.
func forgetOwn(m rt.Memory, at uintptr) {
	at = threadPointer() - 8 - at
	if at%8 == 0 && at/8 < uintptr(len(m)) {
		m[at/8] = 0
	}
}

// threadPointer is the base of the thread's own variables, the last of which is its g.
func threadPointer() (at uintptr) {
	const getFS = 0x1003
	if _, _, e := unix.RawSyscall(unix.SYS_ARCH_PRCTL, getFS, uintptr(unsafe.Pointer(&at)), 0); e != 0 {
		return 0
	}
	return at
}
