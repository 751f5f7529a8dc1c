//go:build !gprof_portable && !go1.28

package sampler

import (
	"runtime"
	"strings"
	_ "unsafe" // for linkname

	"gprof/recorder/internal/modules"
	"gprof/recorder/internal/rt"
)

// sharesStack says whether a function without a frame has its caller's stack pointer. On this architecture it has:
// its return address is in a register.
const sharesStack = true

// native has additional values for the handler: g is in a register, which C code may use for something else.
type native struct {
	tls         uintptr // offset of g from the thread pointer, if the program uses cgo
	vdso, evdso uintptr // the kernel's code in the process; without cgo Go calls no other C code
	switched    uintptr // sched.pc of a g whose stack systemstack or asmcgocall has left
}

// runtime_iscgo: without cgo threads have no variables of their own.
//
//go:linkname runtime_iscgo runtime.iscgo
var runtime_iscgo bool

// threadPointer is the base of the thread's own variables.
func threadPointer() uintptr

// search finds the values of native.
type search struct {
	tls      rt.Candidates
	switched uintptr
}

// meet searches from the goroutine of g.
func (s *search) meet(g uintptr) {
	runtime.LockOSThread()
	s.tls.Meet(variables(threadPointer()), uint64(g))
	runtime.UnlockOSThread()
	rt.GoroutineNumber() // this goes through systemstack
	pc := uintptr(load64(g + offSched + 8))
	if f := runtime.FuncForPC(pc); f != nil && f.Name() == "runtime.systemstack_switch" {
		s.switched = pc
	}
}

// found sets what was found, and reports whether that is enough for the handler.
func (s *search) found(n *native) bool {
	vdso := modules.Find(func(m *modules.Module) bool { return strings.HasPrefix(m.Path, "[vdso]") })
	n.vdso, n.evdso, n.switched = uintptr(vdso.Start), uintptr(vdso.End), s.switched
	if runtime_iscgo {
		n.tls = s.tls.Only()
	}
	return !runtime_iscgo || n.tls != 0
}

// variables reads the first of the thread's own variables, as many as it can.
func variables(at uintptr) (all rt.Memory) {
	const step, most = 256, 4096
	for at != 0 && len(all) < most/8 {
		some := rt.ReadMemory(at+uintptr(8*len(all)), step)
		if some == nil {
			break
		}
		all = append(all, some...)
	}
	return all
}

// forgetOwn does nothing: an m contains its goroutine's g only once.
func forgetOwn(rt.Memory, uintptr) {}
