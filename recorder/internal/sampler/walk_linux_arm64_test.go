//go:build !gprof_portable && !go1.28

package sampler

import (
	"strings"
	"testing"
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/modules"
	"gprof/recorder/internal/rt"
)

// set sets the interrupted registers. The top is in the link register.
func (c *interrupted) set(pc, sp, fp, top uintptr) {
	c.pc, c.sp, c.fp, c.lr = pc, sp, fp, top
	if c.g == 0 {
		c.g = rt.OwnG()
	}
}

// madeUpHere returns stacks of functions that are about to make their frames.
func madeUpHere() []madeUp {
	words := map[int]uintptr{2: code(4), 5: at(9), 6: code(5), 9: 0, 10: code(6)}
	m := madeUp{pc: code(0), sp: at(2), fp: at(5), top: code(9), words: words, wantTop: code(9)}
	begun, c, data, done := m, m, m, m
	begun.name, begun.want = "an unfinished frame", []uintptr{code(4) - unfinished, code(5), code(6)}
	data.name, data.words, data.want = "no code in it", but(words, 2, 8), []uintptr{code(5), code(6)}
	c.name, c.fp, c.words, c.want = "a frame of C", at(4), but(threeFrames, 2, code(4)), []uintptr{code(1), code(2), code(3)}
	done.name, done.fp, done.words, done.want = "a frame", at(1), but(words, 1, at(5)), []uintptr{code(4), code(5), code(6)}
	above := m
	above.name, above.sp, above.wantTop, above.want = "no stack pointer", ^uintptr(7), 0, []uintptr{code(5), code(6)}
	return []madeUp{begun, data, c, done, above}
}

// In the kernel's code the register of g may hold anything: g lies on the stack of
// the signal's handler. Without a g there, the sample is a foreign thread's.
func TestKernelCode(t *testing.T) {
	was := sampleLayout.native
	defer func() { sampleLayout.native = was }()
	_, th := attached(t)
	sampleLayout.vdso, sampleLayout.evdso = 1<<40, 1<<40+4096
	m := madeUpStacks()[1]
	m.pc = 1 << 40
	for _, test := range []struct {
		low  [1]uintptr
		want uint64
	}{{[1]uintptr{rt.OwnG()}, rt.GoroutineNumber()}, {[1]uintptr{0}, 0}} {
		c := &interrupted{g: 1} // a fault, if it was looked at
		c.stack.low = uintptr(unsafe.Pointer(&test.low))
		interrupt(&m, cookie(th.slot, sampleSlots[th.slot].generation), c)
		var rec rawformat.StackRecord
		if ok, err := th.stacks.Next(&rec); !ok || err != nil || rec.Goroutine != test.want || rec.PC != 1<<40 || test.want != 0 && len(rec.Returns) != 3 {
			t.Errorf("%+v, %v", rec, err)
		}
		th.stacks.Drained()
	}
}

// The offsets that are not used without cgo, and without the kernel's code, are known
// to be right by the layout's own tests.
func TestNative(t *testing.T) {
	l, err := findLayout()
	if err != nil || l.switched == 0 || l.tls != 0 {
		t.Errorf("%+v, %v", l.native, err)
	}
	kernels := modules.Find(func(m *modules.Module) bool { return strings.HasPrefix(m.Path, "[vdso]") })
	if uintptr(kernels.Start) != l.vdso {
		t.Errorf("the kernel's code at %x, want %x", l.vdso, kernels.Start)
	}
}
