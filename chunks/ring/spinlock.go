package ring

import (
	"runtime"
	"sync/atomic"
)

// spinlock guards a few instructions of a ring. A mutex would park a writer
// that must not be parked.
type spinlock struct{ held atomic.Uint32 }

// spins is how often try looks; it takes some microseconds.
const spins = 1 << 12

// try takes the lock unless it is held for long, which happens only if its holder
// lost its processor. A pinned caller must not wait for such a holder, which may
// need just the processor that the caller occupies.
func (l *spinlock) try() bool {
	for range spins {
		if l.held.Load() == 0 && l.held.CompareAndSwap(0, 1) {
			return true
		}
	}
	return false
}

// lock waits for the lock. It is not for pinned callers. The wait is bounded: the
// holder walks lists in ordinary memory, takes no other lock, makes no system call
// and touches no mapped file. All it needs is to run, and Gosched lets it.
func (l *spinlock) lock() {
	for !l.try() {
		runtime.Gosched()
	}
}

func (l *spinlock) unlock() { l.held.Store(0) }
