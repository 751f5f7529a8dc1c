package ring

import (
	"runtime"
	"sync/atomic"
)

// spinlock guards a few instructions of a ring. A mutex would park a writer
// that must not be parked.
type spinlock struct{ held atomic.Uint32 }

// spins is how often try looks: some microseconds.
const spins = 1 << 12

// try takes the lock, unless its holder keeps it for long. That can only be a
// holder that lost its processor. A caller that is pinned to its own must not
// wait for that one: it may be the processor the holder needs.
func (l *spinlock) try() bool {
	for range spins {
		if l.held.Load() == 0 && l.held.CompareAndSwap(0, 1) {
			return true
		}
	}
	return false
}

// lock takes the lock however long it takes; not for a pinned caller. That is not
// for ever: who holds it runs through lists in ordinary memory, takes no other lock,
// makes no system call and touches no mapped file. It needs nothing but its turn to
// run, which yielding gives it.
func (l *spinlock) lock() {
	for !l.try() {
		runtime.Gosched()
	}
}

func (l *spinlock) unlock() { l.held.Store(0) }
