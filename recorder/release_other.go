//go:build !amd64 || race

package recorder

import "sync/atomic"

// release and releaseLock store a word after everything that was stored before
// (a release store). Other processors reorder stores, and the race detector
// must see who follows whom.
func release(word *uint64, v uint64) { atomic.StoreUint64(word, v) }

func releaseLock(word *uint32) { atomic.StoreUint32(word, 0) }
