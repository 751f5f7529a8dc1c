//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"errors"
	"runtime"
	"time"
	"unsafe"

	"gprof/recorder/internal/rt"
)

// Go does not promise the layout of a g. Its first words are known to the linker and to debuggers; m and sched
// are guessed and then checked; the rest is searched for.
const (
	offStackHi = 8
	offM       = 48
	offSched   = 56
	searchM    = 512
)

var (
	errLayout = errors.New("the runtime looks different")
	errNoCode = errors.New("/proc/self/maps, which tells where the program's code lies, can't be read")
)

// findLayout finds the offsets. Those not found are 0, and then there is an error.
func findLayout() (l layout, err error) {
	if l.text, l.etext = textRange(); l.etext == 0 {
		return layout{}, errNoCode
	}
	l.slots = uintptr(unsafe.Pointer(&labelSlots[0]))
	labels, curgs, more := rt.Candidates{}, rt.Candidates{}, search{}
	scheds := 0
	for i := range rt.Probes {
		asleep, wake, seen := make(chan struct{}), make(chan struct{}), make(chan struct{})
		var g uintptr
		go func() {
			g = rt.OwnG()
			mark := new([4]uint64)
			was := rt.ProfLabel()
			rt.SetProfLabel(unsafe.Pointer(mark))
			self := rt.ReadMemory(g, rt.SizeOfG)
			rt.SetProfLabel(was)
			labels.Meet(self, uint64(uintptr(unsafe.Pointer(mark))))
			if m := proveM(g); m != nil {
				curgs.Meet(m, uint64(g))
			}
			more.meet(g)
			close(asleep)
			<-wake
			close(seen)
		}()
		<-asleep
		if scheds == i && waitParked(g) {
			scheds++
		}
		close(wake)
		<-seen
	}
	l.goid, l.labels = rt.GoroutineOffset(), labels.Only()
	if curg := curgs.Only(); curg != 0 {
		l.m, l.curg = offM, curg
	}
	if scheds == rt.Probes {
		l.sched = offSched
	}
	if l.goid == 0 || l.labels == 0 || l.m == 0 || l.sched == 0 {
		err = errLayout
	}
	if !more.found(&l.native) {
		return layout{}, errLayout
	}
	return l, err
}

// proveM reads the m of a running g, and checks that its first word is a g0 which has the
// same m.
func proveM(g uintptr) rt.Memory {
	self := rt.ReadMemory(g, rt.SizeOfG)
	if self == nil {
		return nil
	}
	m := rt.ReadMemory(uintptr(self[offM/8]), searchM)
	if m == nil {
		return nil
	}
	g0 := rt.ReadMemory(uintptr(m[0]), rt.SizeOfG)
	if g0 == nil || g0[offM/8] != self[offM/8] {
		return nil
	}
	forgetOwn(m, uintptr(self[offM/8]))
	if again := rt.ReadMemory(g, rt.SizeOfG); again == nil || again[offM/8] != self[offM/8] {
		return nil // the goroutine has moved to another thread meanwhile
	}
	return m
}

// parkPatience is how long to wait for a goroutine that is about to park, on a busy
// machine.
const parkPatience = rt.Time(100 * time.Millisecond)

func waitParked(g uintptr) bool {
	for deadline := rt.Now() + parkPatience; !parked(g); runtime.Gosched() {
		if rt.Now() > deadline {
			return false
		}
	}
	return true
}

// parked reports whether g waits and its sched says where: in gopark, on its own stack.
func parked(g uintptr) bool {
	self := rt.ReadMemory(g, rt.SizeOfG)
	if self == nil {
		return false
	}
	lo, hi := self[0], self[offStackHi/8]
	sched := self[offSched/8:]
	in := func(at uint64) bool { return lo <= at && at < hi }
	f := runtime.FuncForPC(uintptr(sched[1]) - 1) // it returns there
	return in(sched[0]) && in(sched[5]) && f != nil && f.Name() == "runtime.gopark"
}
