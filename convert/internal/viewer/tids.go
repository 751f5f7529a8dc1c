package viewer

import "gprof/stream"

// Tids numbers the threads of an output, each of which has a number of its own. What is
// a thread of the system keeps its tid, unless another one has it; all else gets what is
// left, from 1.
type Tids struct {
	kept  []int64 // by TrackID; 0 none, or given away
	taken map[int64]bool
	last  int64
}

// maxTid is how large a number is exact in the viewer.
const maxTid = 1 << 53

// NewTids returns the numbers for threads of tracks of t.
func NewTids(t *stream.Tables) Tids {
	n := Tids{kept: make([]int64, t.Tracks.Len()+1), taken: map[int64]bool{}}
	for id := range n.kept[1:] {
		tid := t.Tracks.At(stream.TrackID(id + 1)).Thread
		if tid > 0 && tid <= maxTid && !n.taken[tid] {
			n.kept[id+1], n.taken[tid] = tid, true
		}
	}
	return n
}

// Next is the number of the next thread of a track, 0 for none. Of several the first
// keeps the track's.
func (n *Tids) Next(track stream.TrackID) int64 {
	if tid := n.kept[track]; tid != 0 {
		n.kept[track] = 0
		return tid
	}
	n.last++
	for n.taken[n.last] {
		n.last++
	}
	return n.last
}
