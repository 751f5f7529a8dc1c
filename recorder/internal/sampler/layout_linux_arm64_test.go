//go:build !gprof_portable && !go1.28

package sampler

import "unsafe"

// interrupted is what the kernel passes to a signal's handler.
type interrupted struct {
	flags, link uintptr
	stack       struct{ low, flags, size uintptr }
	mask        uint64
	_           [128 - 8]byte
	_           uint64 // what follows lies on a multiple of 16
	fault       uint64
	regs        [28]uintptr
	g, fp, lr   uintptr
	sp, pc      uintptr
	state       uint64
	rest        [528]uint64
}

// handlerNumbers are the offsets of this processor's handler.
var handlerNumbers = map[string]uintptr{
	"UC_STACK": unsafe.Offsetof(interrupted{}.stack), "UC_G": unsafe.Offsetof(interrupted{}.g), "UC_FP": unsafe.Offsetof(interrupted{}.fp),
	"LAYOUT_TLS": unsafe.Offsetof(layout{}.tls), "LAYOUT_VDSO": unsafe.Offsetof(layout{}.vdso), "LAYOUT_EVDSO": unsafe.Offsetof(layout{}.evdso), "LAYOUT_SWITCHED": unsafe.Offsetof(layout{}.switched),
	"UC_LR": unsafe.Offsetof(interrupted{}.lr), "UC_SP": unsafe.Offsetof(interrupted{}.sp), "UC_PC": unsafe.Offsetof(interrupted{}.pc),
}
