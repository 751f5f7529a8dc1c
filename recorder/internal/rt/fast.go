//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package rt

import (
	"errors"
	"os"
	"strings"
	"sync"
	_ "unsafe" // for linkname

	"golang.org/x/sys/unix"
)

// This file and the assembly beside it rely on details of processor, kernel and runtime that Go does not promise. Each
// function has a portable counterpart in portable.go, for where this file is not built, or where a self-test fails. The
// linker permits the use of these functions of the runtime, because many packages depend on them.

// fast reports that this file was built.
const fast = true

//go:linkname Pin runtime.procPin
func Pin() int

//go:linkname Unpin runtime.procUnpin
func Unpin()

//go:linkname runtimeNanotime runtime.nanotime
func runtimeNanotime() int64

// ReadCounter is the time-stamp counter of the processor, which all of its
// threads share.
//
//go:noescape
func ReadCounter() uint64

// GoroutineAt is the word at an offset in the running goroutine's g: with the offset that FindGoroutine returns, the
// number of the goroutine. It is 0 for offset 0.
//
//go:noescape
func GoroutineAt(offset uintptr) uint64

// OwnG is the address of the running goroutine's g.
func OwnG() uintptr

// releaseWord stores a word after everything that was stored before.
//
//go:noescape
func releaseWord(word *uint64, v uint64)

// releaseFlag is releaseWord of a 0.
//
//go:noescape
func releaseFlag(flag *uint32)

// releaseWords is releaseWord and then releaseFlag.
//
//go:noescape
func releaseWords(word *uint64, v uint64, flag *uint32)

// WalkFrames stores the return addresses of the caller's caller and so on, at most
// n, without the first skip, and returns how many, and sumOf them.
//
//go:noescape
func WalkFrames(pcs *uintptr, n, skip int) (depth int, sum uint64)

// nanotime is CLOCK_MONOTONIC in ns.
func (c *Clock) nanotime() Tick { return Tick(runtimeNanotime()) }

// counterTrusted is nil if the kernel itself takes the time from the counter that ReadCounter reads: the kernel watches
// it, and stops using it if it is wrong.
func counterTrusted() error {
	source, err := ReadKernel("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err != nil {
		return err
	}
	if name := strings.TrimSpace(string(source)); name != kernelCounter {
		return errors.New("the kernel's clock source is " + name)
	}
	return counterInvariant()
}

// The commands of membarrier.
const (
	membarrierQuery                    = 0
	membarrierPrivateExpedited         = 1 << 3
	membarrierRegisterPrivateExpedited = 1 << 4
)

// registered is what became of the process' registration for barriers: the kernel makes it wait until all processors
// have switched tasks, which may be for 10 ms and more. Start doesn't wait for that.
var registered struct {
	begin sync.Once
	done  chan struct{} // closed when err is set
	err   error
}

// RegisterBarrier prepares Barrier. The error is the kernel's, which may lack the call or forbid it.
func RegisterBarrier() error {
	if err := Writers.Err(); err != nil {
		return err
	}
	commands, err := membarrier(membarrierQuery)
	if err != nil {
		return err
	}
	if commands&membarrierRegisterPrivateExpedited == 0 {
		return errors.New("membarrier: the kernel has none for one process")
	}
	registered.begin.Do(func() {
		registered.done = make(chan struct{})
		go func() {
			_, registered.err = membarrier(membarrierRegisterPrivateExpedited)
			close(registered.done)
		}()
	})
	return nil
}

// Barrier orders the memory accesses of all threads of the process: everything that a thread stored before is visible
// afterwards, and its later loads return values at least as new. RegisterBarrier must have succeeded; Barrier waits for
// what that began. It fails only if the kernel refuses a call that it said it has.
func Barrier() error {
	<-registered.done
	if registered.err != nil {
		return registered.err
	}
	_, err := membarrier(membarrierPrivateExpedited)
	return err
}

func membarrier(command uintptr) (uintptr, error) {
	n, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, command, 0, 0)
	if errno != 0 {
		return 0, os.NewSyscallError("membarrier", errno)
	}
	return n, nil
}
