//go:build !linux || !(amd64 || arm64) || gprof_portable || go1.28 || race

package rt

import "sync/atomic"

// Release and ReleaseLock store a word after everything that was stored before (a release store). They use atomic
// operations, from which the race detector learns the order.
func Release(word *uint64, v uint64) { atomic.StoreUint64(word, v) }

func ReleaseLock(word *uint32) { atomic.StoreUint32(word, 0) }

// TakeLock takes the lock of a shard of the processor that the caller is pinned to.
func TakeLock(lock *uint32) { atomic.SwapUint32(lock, 1) }

// ReleaseBoth is Release and then ReleaseLock.
func ReleaseBoth(word *uint64, v uint64, lock *uint32) {
	Release(word, v)
	ReleaseLock(lock)
}
