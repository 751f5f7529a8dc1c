//go:build !gprof_portable

package sampler

// set sets what was interrupted. The top is what lies at the stack pointer.
func (c *interrupted) set(pc, sp, fp, _ uintptr) { c.pc, c.sp, c.fp = pc, sp, fp }

func madeUpHere() []madeUp { return nil }
