//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package shard

// takeOwn takes the shard of the processor that the goroutine runs on, and reads what the
// next block needs besides: the counter, 0 where it is not to be read, and the number of
// the goroutine. nil: the shard is taken or shut, the processor has none, or r does not
// know where the number of the processor lies.
//
// The runtime does not interrupt assembly, so nothing else runs on the processor meanwhile:
// that is why a load and a store are enough to lock the shard.
//
//go:noescape
func takeOwn(r *Recording) (s *shard, counter, goroutine uint64)
