package rt

import (
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Nap is the sleep of one goroutine, which others can end. The zero Nap is ready for use. It sleeps without a timer of
// Go's: if a program has no such timers, the scheduler need not read the clock each time that it picks a goroutine, and a
// timer of ours would slow a program that does little else by a tenth. It waits for a timer of the kernel's instead, as
// for a connection, so that it keeps no processor from others. Where the kernel refuses that, it takes Go's timer.
type Nap struct {
	woken   atomic.Bool
	state   atomic.Int32 // of the kernel's timer
	wakers  atomic.Int32 // at work in Wake
	fd      uintptr
	file    *os.File
	expired [8]byte
	without timerNap // if there is no timer of the kernel's
}

// States of the timer.
const (
	napNew = iota
	napOpen
	napWithout // a timer of Go's is used
	napClosed
)

// Sleep sleeps that long, or until Wake is called, or not at all if Wake was called since the last Sleep. It reports
// whether Wake was called.
func (n *Nap) Sleep(d time.Duration) (woken bool) {
	if n.state.Load() == napNew {
		n.open()
	}
	if n.state.Load() != napOpen {
		return n.without.Sleep(d)
	}
	if err := n.set(max(d, 1)); err != nil {
		n.leave()
		return n.without.Sleep(d)
	}
	if !n.woken.Load() { // else Wake may have set the timer before
		if _, err := n.file.Read(n.expired[:]); err != nil {
			n.leave()
		}
	}
	return n.woken.Swap(false)
}

func (n *Nap) open() {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		n.state.Store(napWithout)
		return
	}
	n.fd, n.file = uintptr(fd), os.NewFile(uintptr(fd), "timer")
	if n.file.SetReadDeadline(time.Time{}) != nil { // the runtime can't wait for it
		n.file.Close()
		n.state.Store(napWithout)
		return
	}
	n.state.Store(napOpen)
}

// set sets the timer. It makes one system call, which does not wait, so that the runtime need not know about it.
func (n *Nap) set(d time.Duration) error {
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	_, _, errno := syscall.RawSyscall6(unix.SYS_TIMERFD_SETTIME, n.fd, 0, uintptr(unsafe.Pointer(&at)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// leave goes on with a timer of Go's.
func (n *Nap) leave() {
	n.close(napWithout)
	if n.woken.Swap(false) {
		n.without.Wake()
	}
}

// Wake ends the sleep. It makes at most one system call for each sleep, which does not wait. A pinned goroutine may call
// it.
func (n *Nap) Wake() {
	n.wakers.Add(1)
	switch n.state.Load() {
	case napOpen:
		if !n.woken.Swap(true) {
			n.set(1)
		}
	case napNew:
		n.woken.Store(true)
		n.without.Wake()
		if n.state.Load() == napOpen { // Sleep may not have seen it
			n.set(1)
		}
	case napWithout:
		n.without.Wake()
	}
	n.wakers.Add(-1)
}

// Close frees what Sleep takes. Nobody may be asleep; a Wake that comes later does nothing.
func (n *Nap) Close() { n.close(napClosed) }

func (n *Nap) close(state int32) {
	if n.state.Swap(state) != napOpen {
		return
	}
	for n.wakers.Load() > 0 { // they may be about to set the timer
		runtime.Gosched()
	}
	n.file.Close()
}
