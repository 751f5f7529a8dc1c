package stream

import (
	"fmt"
	"time"
)

// CounterHeap is the counter of the bytes that objects of the heap take.
const CounterHeap = "heap"

// Heap is how far the heap samples of a process can be trusted at its end. They are of
// the last look at them, and then of a garbage collection before it; the counter is
// read ten times a second.
type Heap struct {
	Sampled   Time  // of the last rows of allocations; 0: there are none
	Explained int64 // bytes that are in use by all rows
	Counted   Time  // when the counter was read last; 0: never
	InUse     int64 // bytes that it told
}

// Share is the part of the heap that the samples explain, in per cent; -1: not known.
func (h *Heap) Share() int64 {
	if h.InUse <= 0 || h.Explained < 0 {
		return -1
	}
	return int64(100 * float64(h.Explained) / float64(h.InUse))
}

// Text says it to a person, of a process that ended then.
func (h *Heap) Text(end Time) string {
	const mebi = 1 << 20
	text := fmt.Sprintf("%.1f s before the end, %.1f MiB", max(0, time.Duration(end-h.Sampled)).Seconds(), float64(h.Explained)/mebi)
	had := fmt.Sprintf("the %.1f MiB that the heap had %.1f s before the end", float64(h.InUse)/mebi, max(0, time.Duration(end-h.Counted)).Seconds())
	switch share := h.Share(); {
	case share > 100: // of a small heap, of which a sample stands for much
		text += ", an estimate of " + had
	case share >= 0:
		text += fmt.Sprintf(", which is %d %% of %s", share, had)
	}
	return text
}
