package perfetto

import (
	"math"

	"gprof/stream"
)

// numbers are the pids and tids of a trace. Perfetto takes two of one number for the same.
type numbers struct {
	pids []int64 // by ProcessID
	tids []int64 // by TrackID
}

// madeUp is above all numbers that Linux gives.
const madeUp = 1 << 22

// number numbers the processes and tracks of t. The first of some with one number keeps it, those without one get
// what no other has. The main track is the thread by which the process is known, unless another is.
func number(t *stream.Tables) numbers {
	n := numbers{pids: make([]int64, len(t.Processes)+1), tids: make([]int64, t.Tracks.Len()+1)}
	keep := func(taken map[int64]bool, of *int64, number int64) {
		if *of == 0 && number > 0 && number <= math.MaxInt32 && !taken[number] {
			*of, taken[number] = number, true
		}
	}
	pids, tids := map[int64]bool{}, map[int64]bool{}
	for i := range t.Processes {
		keep(pids, &n.pids[i+1], int64(t.Processes[i].Pid))
	}
	fill(n.pids, pids)
	for id := range n.tids[1:] {
		keep(tids, &n.tids[id+1], t.Tracks.At(stream.TrackID(id+1)).Thread)
	}
	for id := range n.tids[1:] {
		if track := t.Tracks.At(stream.TrackID(id + 1)); track.Main {
			keep(tids, &n.tids[id+1], n.pids[track.Process])
		}
	}
	fill(n.tids, tids)
	return n
}

// fill gives numbers to those without one.
func fill(numbers []int64, taken map[int64]bool) {
	next := int64(madeUp)
	for i := range numbers[1:] {
		for numbers[i+1] == 0 {
			if next++; !taken[next] {
				numbers[i+1] = next
			}
		}
	}
}
