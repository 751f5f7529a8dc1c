//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28 && !race

package rt

// Release and ReleaseLock store a word after everything that was stored before (a release store). An atomic store would
// be an exchange on amd64, which costs a quarter of a marker.
func Release(word *uint64, v uint64) { releaseWord(word, v) }

func ReleaseLock(word *uint32) { releaseFlag(word) }

// TakeLock takes the lock of a shard of the processor that the caller is pinned to.
func TakeLock(lock *uint32) { *lock = 1 }

// ReleaseBoth is Release and then ReleaseLock.
func ReleaseBoth(word *uint64, v uint64, lock *uint32) { releaseWords(word, v, lock) }
