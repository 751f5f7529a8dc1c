//go:build !gprof_portable && !go1.28

package sampler

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/modules"
)

// set sets the interrupted registers. The top is the word at the stack pointer.
func (c *interrupted) set(pc, sp, fp, _ uintptr) { c.pc, c.sp, c.fp = pc, sp, fp }

// madeUpHere are stacks of Go that C has called, which Go has called: the frame pointer
// leads to another stack, while the goroutine's goes on behind cgocallback's frame.
func madeUpHere() []madeUp {
	const elsewhere = 1 << 40
	words := map[int]uintptr{4: elsewhere, 5: code(1), 10: sampleLayout.switched, 11: at(14), 12: code(2), 14: 0, 15: code(3)}
	m := madeUp{name: "called by C", pc: code(0), sp: at(2), fp: at(4), top: code(9), words: words, wantTop: code(9), want: []uintptr{code(1), code(2), code(3)}}
	interrupted, root, other, twice := m, m, m, m
	interrupted.name, interrupted.sp, interrupted.fp, interrupted.wantTop, interrupted.want = "interrupted in cgocallback", at(6), elsewhere, 0, []uintptr{code(2), code(3)}
	root.name, root.words, root.want = "no caller", but(words, 4, 0), []uintptr{code(1)}
	other.name, other.words, other.want = "called by nobody", but(words, 10, sampleLayout.switched+1), []uintptr{code(1)}
	twice.name, twice.words = "called twice", but(but(but(but(words, 14, elsewhere), 20, sampleLayout.switched), 21, 0), 22, code(4))
	twice.want = []uintptr{code(1), code(2), code(3), code(4)}
	return []madeUp{m, interrupted, root, other, twice}
}

// The layout has the sched.pc that the runtime leaves in a goroutine whose stack it has left.
func TestNative(t *testing.T) {
	if l, err := findLayout(); err != nil || l.switched == 0 {
		t.Errorf("%+v, %v", l.native, err)
	}
}

// The clock's code, which is the kernel's and runs on another stack, is called by what reads the clock.
func TestClockStacks(t *testing.T) {
	s, th := attached(t)
	if err := setTimer(th.timer, s.period); err != nil {
		t.Fatal(err)
	}
	kernels := modules.Find(func(m *modules.Module) bool { return strings.HasPrefix(m.Path, "[vdso]") })
	for seen, deadline := 0, time.Now().Add(time.Minute); seen < 20; {
		if time.Now().After(deadline) {
			t.Fatalf("%d samples of the clock's code in a minute", seen)
		}
		var rec rawformat.StackRecord
		if ok, err := th.stacks.Next(&rec); err != nil {
			t.Fatal(err)
		} else if !ok {
			continue
		}
		th.stacks.Drained()
		if rec.PC < kernels.Start || rec.PC >= kernels.End {
			continue
		}
		seen++
		if names := namesOf(rec.Returns); !strings.Contains(names, "time.Now gprof/recorder/internal/sampler.TestClockStacks ") || !strings.HasSuffix(names, " runtime.goexit ") {
			t.Errorf("called by %s", names)
		}
	}
}

func namesOf(returns []uint64) (names string) {
	for _, pc := range returns {
		if f := runtime.FuncForPC(uintptr(pc) - 1); f != nil {
			names += f.Name() + " "
		}
	}
	return names
}
