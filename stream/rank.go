package stream

import (
	"cmp"
	"slices"
	"sort"
)

// ranking is the order that series will have, as far as it is known while rows are added. Mixed runs are in it, so that
// mostly they can be read as they are. Two series never change places: all runs are in the same order.
type ranking struct {
	order []int32 // numbers of series
	ranks []int32 // by number
}

// add ranks the series that have no rank yet.
func (r *ranking) add(all []*seriesRuns, compare func(a, b Series) int) {
	end := len(r.order) // of those that were ranked, and are not in place yet
	for n := end; n < len(all); n++ {
		r.order = append(r.order, int32(n))
	}
	r.ranks = append(r.ranks, r.order[end:]...)
	fresh := slices.Clone(r.order[end:])
	slices.SortFunc(fresh, func(a, b int32) int { return compare(all[a].series, all[b].series) })
	for i := len(fresh) - 1; i >= 0; i-- {
		at := sort.Search(end, func(k int) bool { return compare(all[r.order[k]].series, all[fresh[i]].series) > 0 })
		copy(r.order[at+i+1:], r.order[at:end])
		r.order[at+i], end = fresh[i], at
	}
	for i := end; i < len(r.order); i++ {
		r.ranks[r.order[i]] = int32(i)
	}
}

// holds reports whether the order is that of places, by number. Several series may have one place.
func (r *ranking) holds(places []int32) bool {
	return slices.IsSortedFunc(r.order, func(a, b int32) int { return cmp.Compare(places[a], places[b]) })
}

// compareSeries orders series with provisional ids as they will be with final ones, as far as that can be told now.
func (t *Tables) compareSeries(a, b Series) int {
	process := func(id ProcessID) bool { return id > 0 && int(id) <= len(t.Processes) }
	track := func(id TrackID) bool { return id > 0 && int(id) <= t.Tracks.Len() }
	switch {
	case a.Part != b.Part:
	case a.Process != b.Process:
		if process(a.Process) && process(b.Process) {
			return cmp.Or(compareProcesses(t.Process(a.Process), t.Process(b.Process)), a.Compare(b))
		}
	case a.Track != b.Track:
		if track(a.Track) && track(b.Track) {
			return cmp.Or(compareTracks(t.Tracks.At(a.Track), t.Tracks.At(b.Track)), a.Compare(b))
		}
	}
	return a.Compare(b)
}
