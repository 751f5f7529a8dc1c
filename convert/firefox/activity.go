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
// twice. The viewer's menu has the others.
const maxVisible = 30

// visible are the places of the threads that are shown at first, the busiest
// ones, in the order of the profile; the first of them is that of the busiest.
// The main thread of each process is always among them: it is the row of the
// process, under which its counters are.
func visible(threads []activity) (shown []int, busiest int) {
	order := slices.SortedFunc(slices.Values(threads), activity.compare)
	for i, a := range order {
		if a.main || i < maxVisible && !a.idle() {
			shown = append(shown, a.thread)
		}
	}
	slices.Sort(shown)
	return shown, order[0].thread
}
