//go:build linux && (amd64 || arm64) && !gprof_portable && !race

package recorder

// release and releaseLock store a word after everything that was stored before
// (a release store). An atomic store would be an exchange on amd64, which costs a
// quarter of a marker.
func release(word *uint64, v uint64) { releaseWord(word, v) }

func releaseLock(word *uint32) { releaseFlag(word) }

// takeLock takes the lock of a shard of the processor that the caller is pinned to.
func takeLock(lock *uint32) { *lock = 1 }

// releaseBoth is release and then releaseLock.
func releaseBoth(word *uint64, v uint64, lock *uint32) { releaseWords(word, v, lock) }
