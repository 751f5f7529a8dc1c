//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package mapping

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// faultEntry returns the addresses of the handler and of the code that it returns to; 0 if
// the kernel provides that.
func faultEntry() (handler, restorer uintptr)

func addressOf(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }

// sigaction is the struct of that name in the kernel.
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

// catch returns the action that installs the handler.
func catch(handler, restorer uintptr) *sigaction {
	flags := uint64(saSiginfo | saOnstack | saRestart)
	if restorer != 0 {
		flags |= saRestorer
	}
	return &sigaction{handler, flags, restorer, ^uint64(0)}
}

func changeSignal(signal unix.Signal, to, was *sigaction) error {
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(was)), 8, 0, 0)
	if e != 0 {
		return os.NewSyscallError("rt_sigaction", e)
	}
	return nil
}

// faultsSeized reports whether the handler is installed.
func faultsSeized() bool {
	var is sigaction
	handler, _ := faultEntry()
	return changeSignal(unix.SIGBUS, nil, &is) == nil && is.handler == handler
}

var errHandled = errors.New("the program handles SIGBUS itself")

// seizeFaults installs the handler in place of the Go runtime's, and tests it. A handler that
// fails the test is removed again.
func seizeFaults() error {
	var urgent, was sigaction
	if err := changeSignal(unix.SIGURG, nil, &urgent); err != nil { // it always has the runtime's handler
		return err
	}
	if err := changeSignal(unix.SIGBUS, nil, &was); err != nil {
		return err
	}
	handler, restorer := faultEntry()
	if was.handler == handler {
		return nil
	}
	if was.handler != urgent.handler {
		return errHandled
	}
	atomic.StoreUintptr(&faultNext, was.handler)
	atomic.StoreUintptr(&faultPage, uintptr(os.Getpagesize()))
	if err := changeSignal(unix.SIGBUS, catch(handler, restorer), nil); err != nil {
		return err
	}
	if err := testFaults(); err != nil {
		return errors.Join(fmt.Errorf("self-test: %w", err), changeSignal(unix.SIGBUS, &was, nil))
	}
	return nil
}

// testFaults cuts a file short, and touches a byte that is gone and one that is not.
func testFaults() (err error) {
	fd, err := unix.MemfdCreate("gprof", unix.MFD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "self-test")
	defer f.Close()
	page := os.Getpagesize()
	if err := f.Truncate(2 * int64(page)); err != nil {
		return err
	}
	mem, err := MapFile(f, 2*page)
	if err != nil {
		return err
	}
	guard, err := protectLocked(mem)
	if err != nil {
		return errors.Join(err, UnmapFile(mem))
	}
	defer func() {
		guard.exposeLocked()
		err = errors.Join(err, UnmapFile(mem))
	}()
	if err := f.Truncate(int64(page)); err != nil {
		return err
	}
	before := Faults()
	err = Survive(func() error { return tryFault(f, mem[:1], mem[page:]) })
	if n := Faults() - before; err == nil && (n != 1 || guard.lost() != page) {
		err = fmt.Errorf("%d pages replaced, want 1", n)
	}
	atomic.AddUint32(&faultsSeen, before-Faults()) // the test's own do not count
	return err
}

// tryFault checks that bytes before the end of f are in the file, and that bytes after it
// can be used.
func tryFault(f *os.File, before, behind []byte) error {
	before[0] = 1
	behind[0] += 2
	var first [1]byte
	if _, err := f.ReadAt(first[:], 0); err != nil {
		return err
	}
	if first[0] != 1 || behind[0] != 2 {
		return fmt.Errorf("the file has %d and the page behind it %d, want 1 and 2", first[0], behind[0])
	}
	return nil
}
