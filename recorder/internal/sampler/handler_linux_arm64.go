//go:build !gprof_portable

package sampler

import (
	"gprof/recorder/internal/modules"
	"gprof/recorder/internal/rt"
	"runtime"
	"strings"
	_ "unsafe" // for linkname
)

// sharesStack says that a function without a frame has its caller's stack pointer:
// its return address is in a register.
const sharesStack = true

// native is what this processor's handler needs besides: g is in a register, which C
// code may use for something else.
type native struct {
	tls         uintptr // where from the thread pointer g is, if the program has cgo
	vdso, evdso uintptr // the kernel's code in the process; without cgo Go calls no other C code
	switched    uintptr // sched.pc of a g whose stack was left by systemstack or asmcgocall
}

// runtime_iscgo: without it there are no thread's variables.
//
//go:linkname runtime_iscgo runtime.iscgo
var runtime_iscgo bool

// threadPointer is the base of the thread's own variables.
func threadPointer() uintptr

// search finds what native holds.
type search struct {
	tls      rt.Candidates
	switched uintptr
}

// meet looks from the goroutine of g.
func (s *search) meet(g uintptr) {
	runtime.LockOSThread()
	s.tls.Meet(variables(threadPointer()), uint64(g))
	runtime.UnlockOSThread()
	rt.GoroutineNumber() // by systemstack
	pc := uintptr(load64(g + offSched + 8))
	if f := runtime.FuncForPC(pc); f != nil && f.Name() == "runtime.systemstack_switch" {
		s.switched = pc
	}
}

// found tells what was found, and whether the handler can do with that.
func (s *search) found(n *native) bool {
	vdso := modules.Find(func(m *modules.Module) bool { return strings.HasPrefix(m.Path, "[vdso]") })
	n.vdso, n.evdso, n.switched = uintptr(vdso.Start), uintptr(vdso.End), s.switched
	if runtime_iscgo {
		n.tls = s.tls.Only()
	}
	return !runtime_iscgo || n.tls != 0
}

// variables are some of the thread's own, as many as can be read.
func variables(at uintptr) (all rt.Memory) {
	const step, most = 256, 4096
	for at != 0 && len(all) < most/8 {
		some := words(at+uintptr(8*len(all)), step)
		if some == nil {
			break
		}
		all = append(all, some...)
	}
	return all
}

// forgetOwn has nothing to do: an m holds its goroutine's g once.
func forgetOwn(rt.Memory, uintptr) {}
