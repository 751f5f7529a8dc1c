//go:build race

package shard

import "sync/atomic"

// raceAcquire tells the race detector that the goroutine which took a shard by assembly
// happens after its previous holder, and after the keeper that opened it.
func raceAcquire(s *shard) {
	atomic.LoadUint32(&s.lock)
	atomic.LoadUint32(&s.shut)
}
