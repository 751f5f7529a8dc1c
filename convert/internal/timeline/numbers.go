package timeline

import (
	"math"
	"slices"

	"gprof/stream"
)

// Numbers are the pids and tids of an output whose readers take two of one number for the same.
type Numbers struct {
	Pids []int64 // by ProcessID
	Tids []int64 // by TrackID

	last int64
	tids map[int64]bool // that are in use
}

// madeUp is above all numbers that Linux gives.
const madeUp = 1 << 22

// Number numbers the processes and tracks of t. The first of some with one number keeps it, those without one get
// what no other has. The main track is the thread by which the process is known, unless another is.
func Number(t *stream.Tables) Numbers {
	n := Numbers{Pids: make([]int64, len(t.Processes)+1), Tids: make([]int64, t.Tracks.Len()+1), last: madeUp, tids: map[int64]bool{}}
	keep := func(taken map[int64]bool, of *int64, number int64) {
		if *of == 0 && number > 0 && number <= math.MaxInt32 && !taken[number] {
			*of, taken[number] = number, true
		}
	}
	pids := map[int64]bool{}
	for i := range t.Processes {
		keep(pids, &n.Pids[i+1], int64(t.Processes[i].Pid))
	}
	for i := range n.Pids[1:] {
		if n.Pids[i+1] == 0 {
			n.Pids[i+1] = n.next(pids)
		}
	}
	for id := range n.Tids[1:] {
		keep(n.tids, &n.Tids[id+1], t.Tracks.At(stream.TrackID(id+1)).Thread)
	}
	for id := range n.Tids[1:] {
		if track := t.Tracks.At(stream.TrackID(id + 1)); track.Main {
			keep(n.tids, &n.Tids[id+1], n.Pids[track.Process])
		}
	}
	for i := range n.Tids[1:] {
		if n.Tids[i+1] == 0 {
			n.Tids[i+1] = n.Another()
		}
	}
	return n
}

// Another is a tid that nothing else has.
func (n *Numbers) Another() int64 { return n.next(n.tids) }

// next is the next number that is not taken.
func (n *Numbers) next(taken map[int64]bool) int64 {
	n.last++
	for taken[n.last] {
		n.last++
	}
	return n.last
}

// OwnName is a name for an argument that no field of an event has: that name, or one with a sign behind it.
func OwnName(e *stream.Event, name string) string {
	for slices.ContainsFunc(e.Fields, func(f stream.EventField) bool { return f.Name == name }) {
		name += "'"
	}
	return name
}
