package top

import (
	"maps"
	"slices"

	"gprof/convert/internal/calls"
	"gprof/stream"
)

// Age is how old what is shown of a process is: the heap is read from time to time, and so is who waits.
type Age struct {
	Process string `json:"process"`
	Seen    int64  `json:"seen_ns"` // when it was last read, since the epoch
	End     int64  `json:"end_ns"`  // of the recording

	// Heap is how far what is in use can be trusted; nil: that is unknown, or a part was read, in which it is
	// what was allocated less what was freed.
	Heap *stream.Heap `json:"-"`
	// Explained and InUse are bytes: what the samples stand for, and what the heap took by its counter.
	Explained int64 `json:"explained_bytes,omitempty"`
	InUse     int64 `json:"in_use_bytes,omitempty"`
}

// ages are when the rows of each process were last read.
type ages map[stream.ProcessID]stream.Time

// see notes the last row of b, if it counts.
func (a *ages) see(b *stream.Batch, of calls.Basis) {
	kind := b.Series.Kind
	counts := kind == stream.Waits && of == calls.Waits || kind == stream.Allocations && (of == calls.Heap || of == calls.Allocations)
	if !counts || b.Len() == 0 {
		return
	}
	if *a == nil {
		*a = ages{}
	}
	(*a)[b.Series.Process] = max((*a)[b.Series.Process], b.Time[b.Len()-1])
}

func (a ages) list(t *stream.Tables, of string) (all []Age) {
	for _, id := range slices.Sorted(maps.Keys(a)) {
		p := t.Process(id)
		if len(p.Profile.Types) > 0 {
			continue // it is of one moment
		}
		age := Age{Process: p.Title(), Seen: int64(a[id]), End: int64(p.End)}
		if of == Heap && p.Heap.Sampled != 0 {
			age.Heap, age.Explained, age.InUse = &p.Heap, p.Heap.Explained, p.Heap.InUse
			if last := p.Heap.Last(); last != nil {
				age.Seen, age.Explained, age.InUse = int64(last.Taken), last.Explained, last.Heap
			}
		}
		all = append(all, age)
	}
	return all
}
