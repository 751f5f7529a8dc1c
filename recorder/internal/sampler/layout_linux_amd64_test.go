//go:build !gprof_portable && !go1.28

package sampler

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// interrupted is what the kernel passes to a signal's handler.
type interrupted struct {
	flags, link    uintptr
	stack          struct{ low, flags, size uintptr }
	_              [8]uint64
	di, si, fp     uintptr
	bx, dx, ax, cx uintptr
	sp, pc         uintptr
	rest           [128]uint64
}

// handlerNumbers are the offsets and numbers of this processor's handler.
var handlerNumbers = map[string]uintptr{
	"UC_RBP": unsafe.Offsetof(interrupted{}.fp), "UC_RSP": unsafe.Offsetof(interrupted{}.sp), "UC_RIP": unsafe.Offsetof(interrupted{}.pc),
	"SYS_rt_sigreturn": unix.SYS_RT_SIGRETURN, "LAYOUT_SWITCHED": unsafe.Offsetof(layout{}.switched),
}
