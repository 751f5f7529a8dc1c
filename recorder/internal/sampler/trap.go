//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/recorder/internal/counters"
)

// These belong to the process, as the handler of a signal does: the handler has to find them without
// an argument, and stays installed when a recorder stops.
var (
	sampleSlots  [maxSlots]sampleSlot
	sampleLayout layout
	//lint:ignore U1000 the handler jumps there
	sampleNext uintptr // the handler that had the signal before
)

const (
	maxSlots    = 1024   // threads that are sampled at once
	sampleMagic = 0x6770 // marks our timers
)

// sampleSlot is what the handler knows about a thread.
type sampleSlot struct {
	ring       uintptr // its mapping; 0: the slot is free, or its ring is about to be unmapped
	generation uint32  // counts uses of the slot; a signal of an older one is ignored
	busy       atomic.Int32
	_          [48]byte
}

// layout says where the runtime keeps things: offsets, 0 if unknown. The handler reads it.
type layout struct {
	goid, labels, m, curg, sched uintptr
	text, etext                  uintptr // of the program's code
	slots                        uintptr // the table of goroutines' labels; 0: labels don't work
	counter                      uintptr // not 0: time is the processor's counter
	depth                        uintptr // how many return addresses of a stack the handler writes, besides the outermost ones
	room                         uintptr // words of a ring that may be in use when a record is written
	cpu                          uintptr // not 0: the CPU time since the last record is measured
	native                               // for the handler of this architecture
}

// sampleEntry returns the addresses of the handler and of the code that it returns to, 0
// where the kernel has its own.
func sampleEntry() (handler, restorer uintptr)

// sigaction is the kernel's struct.
type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const (
	saSiginfo  = 0x4
	saRestorer = 0x4000000
	saOnstack  = 0x8000000
	saRestart  = 0x10000000
)

func changeSignal(signal int, to, was *sigaction) error {
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(was)), 8, 0, 0)
	return errnoErr("rt_sigaction", e)
}

// seize installs the handler for a signal that only the Go runtime handles.
func seize(signal int) error {
	var urgent, was sigaction
	if err := changeSignal(int(unix.SIGURG), nil, &urgent); err != nil { // the runtime's own
		return err
	}
	if err := changeSignal(signal, nil, &was); err != nil {
		return err
	}
	handler, restorer := sampleEntry()
	switch was.handler {
	case handler: // it was installed by a recorder that has stopped
		return nil
	case urgent.handler:
	case 0:
		return errNotGo
	default:
		return errTaken
	}
	sampleNext = was.handler
	is := sigaction{handler, saSiginfo | saOnstack | saRestart, restorer, blocked}
	if restorer != 0 {
		is.flags |= saRestorer
	}
	return changeSignal(signal, &is, nil)
}

// blocked are the signals that wait while the handler runs: all except SIGBUS, because the
// ring's file may be cut short, see [mapping.CatchFaults].
const blocked = ^uint64(1 << (unix.SIGBUS - 1))

// seized reports whether the handler is still installed.
func seized(signal int) bool {
	var is sigaction
	handler, _ := sampleEntry()
	return changeSignal(signal, nil, &is) == nil && is.handler == handler
}

// cookie is the value that comes with a timer's signal.
func cookie(slot int, generation uint32) uint64 {
	return sampleMagic<<48 | uint64(generation)<<16 | uint64(slot)
}

// sigevent is the kernel's struct, for a signal to one thread.
type sigevent struct {
	value  uint64
	signo  int32
	notify int32
	tid    int32
	_      [44]byte
}

const sigevThreadID = 4

// newTimer makes a timer, not yet running, on a thread's CPU clock.
func newTimer(tid, signal int, value uint64) (timer int32, err error) {
	ev := sigevent{value: value, signo: int32(signal), notify: sigevThreadID, tid: int32(tid)}
	_, _, e := unix.RawSyscall(unix.SYS_TIMER_CREATE, uintptr(counters.ThreadClock(tid)), uintptr(unsafe.Pointer(&ev)), uintptr(unsafe.Pointer(&timer)))
	return timer, errnoErr("timer_create", e)
}

// setTimer has a timer expire each period of CPU time; 0 stops it.
func setTimer(timer int32, period int64) error {
	spec := unix.ItimerSpec{Interval: unix.NsecToTimespec(period), Value: unix.NsecToTimespec(period)}
	_, _, e := unix.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(timer), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	return errnoErr("timer_settime", e)
}

// armed reports whether a timer is running. It is not if its thread has ended, even if
// another thread has got its number.
func armed(timer int32) bool {
	var spec unix.ItimerSpec
	_, _, e := unix.RawSyscall(unix.SYS_TIMER_GETTIME, uintptr(timer), uintptr(unsafe.Pointer(&spec)), 0)
	return e == 0 && spec.Interval != (unix.Timespec{})
}

func deleteTimer(timer int32) { unix.RawSyscall(unix.SYS_TIMER_DELETE, uintptr(timer), 0, 0) }

// siginfo is the kernel's struct, for a timer's signal.
type siginfo struct {
	signo, errno, code, _ int32
	timer, overrun        int32
	value                 uint64
	_                     [96]byte
}

const siTimer = -2

// fakeTimer sends a thread of this process the signal that its timer would send.
func fakeTimer(tid, signal int, value uint64) error {
	info := siginfo{signo: int32(signal), code: siTimer, value: value}
	_, _, e := unix.RawSyscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(unix.Getpid()), uintptr(tid), uintptr(signal), uintptr(unsafe.Pointer(&info)), 0, 0)
	return errnoErr("rt_tgsigqueueinfo", e)
}

func errnoErr(call string, e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return os.NewSyscallError(call, e)
}
