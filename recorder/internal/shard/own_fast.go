//go:build linux && (amd64 || arm64) && !gprof_portable

package shard

// takeOwn takes the shard of the processor that the goroutine runs on, and reads
// what its next block begins with: counter, which is 0 where it is not to be read,
// and goroutine. nil: the shard is taken or shut, there is none for the processor, or
// r does not know where its number lies.
//
// Nothing else runs on the processor meanwhile, for the runtime does not interrupt
// assembly: so that is all that it takes to have the lock alone.
//
//go:noescape
func takeOwn(r *Recording) (s *shard, counter, goroutine uint64)
