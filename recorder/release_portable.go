//go:build !linux || !(amd64 || arm64) || gprof_portable || race

package recorder

import "sync/atomic"

// release and releaseLock store a word after everything that was stored before
// (a release store). With atomic operations for it, the race detector sees who
// follows whom.
func release(word *uint64, v uint64) { atomic.StoreUint64(word, v) }

func releaseLock(word *uint32) { atomic.StoreUint32(word, 0) }

// takeLock takes the lock of a shard of the processor that the caller is pinned to.
func takeLock(lock *uint32) { atomic.SwapUint32(lock, 1) }

// releaseBoth is release and then releaseLock.
func releaseBoth(word *uint64, v uint64, lock *uint32) {
	release(word, v)
	releaseLock(lock)
}
