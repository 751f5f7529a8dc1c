//go:build amd64 && !race

package recorder

// release and releaseLock store a word after everything that was stored before
// (a release store). On amd64 a plain store is one: the processor shows stores
// in program order, and the compiler keeps that order, because in its memory
// model every store depends on the one before it. An atomic store would be an
// exchange, which costs a quarter of a marker.
func release(word *uint64, v uint64) { *word = v }

func releaseLock(word *uint32) { *word = 0 }
