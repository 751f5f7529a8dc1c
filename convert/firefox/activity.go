package firefox

import (
	"cmp"
	"slices"
)

// activity is how much a thread did.
type activity struct {
	thread  int // its place in the list of threads
	main    bool
	cpu     int64 // ns
	samples int64 // by weight
	markers int64
}

// idle says that there is nothing to see of a thread.
func (a *activity) idle() bool { return a.samples == 0 && a.markers == 0 }

// compare puts the busier one first.
func (a activity) compare(b activity) int {
	return cmp.Or(cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.samples, a.samples), cmp.Compare(b.markers, a.markers), cmp.Compare(a.thread, b.thread))
}

// maxVisible is how many threads are shown at first: about what a screen holds
// twice. The viewer's menu has the others. maxProcesses is how many processes
// are: a thousand rows would take it long to draw, and nobody looks through them.
const maxVisible, maxProcesses = 30, 100

// visible are the places of the threads that are shown at first, the busiest
// ones, in the order of the profile, and that of the busiest. With a thread the
// main one of its process is shown: it is the row of the process, under which its
// counters are. So are the main threads of the busiest other processes.
func visible(threads []activity) (shown []int, busiest int) {
	order := slices.SortedFunc(slices.Values(threads), activity.compare)
	mains := mainsOf(threads)
	show := make([]bool, len(threads))
	processes := 0
	for i, a := range order {
		if i < maxVisible && !a.idle() || a.main && processes < maxProcesses {
			show[a.thread] = true
			show[mains[a.thread]] = true
		}
		if a.main {
			processes++
		}
	}
	for thread := range show {
		if show[thread] {
			shown = append(shown, thread)
		}
	}
	return shown, order[0].thread
}

// mainsOf tells for each thread the main one of its process, which comes first
// of them.
func mainsOf(threads []activity) []int {
	mains := make([]int, len(threads))
	main := 0
	for i, a := range threads {
		if a.main {
			main = i
		}
		mains[i] = main
	}
	return mains
}
