package stream

import (
	"cmp"
	"slices"
	"sort"
)

// ranking is the order that series will have, as far as it is known while rows are added. Mixed runs are in it, so that
// mostly they can be read as they are. Two series never change places: all runs are in the same order.
//
// It is a list of blocks, so that a new series moves only those of its block: a run may come with some new ones of
// hundreds of thousands.
type ranking struct {
	blocks [][]int32 // numbers of series, in order; none is empty
	order  []int32   // of the blocks
	places []int32   // of the blocks in order
	ranked []uint32  // by number of series: its block, and its place there
	merged []int32   // scratch
}

// rankedTogether is how many series a block has at most.
const rankedTogether = 256

// rank is a number by which series are ordered.
func (r *ranking) rank(series int32) int64 {
	at := r.ranked[series]
	return int64(r.places[at/rankedTogether])*rankedTogether + int64(at%rankedTogether)
}

// add ranks the series that have no rank yet.
func (r *ranking) add(all []*seriesRuns, compare func(a, b Series) int) {
	fresh := make([]int32, 0, len(all)-len(r.ranked))
	for n := len(r.ranked); n < len(all); n++ {
		fresh = append(fresh, int32(n))
	}
	r.ranked = append(r.ranked, make([]uint32, len(fresh))...)
	ordered := func(a, b int32) int { return compare(all[a].series, all[b].series) }
	slices.SortFunc(fresh, ordered)
	for len(fresh) > 0 {
		at := r.blockOf(fresh[0], ordered)
		n := len(fresh)
		if next := at + 1; next < len(r.order) {
			first := r.blocks[r.order[next]][0]
			n = 1 + sort.Search(n-1, func(i int) bool { return ordered(first, fresh[i+1]) <= 0 })
		}
		r.insert(at, fresh[:n], ordered)
		fresh = fresh[n:]
	}
}

// blockOf is the place of the block that a series belongs into: mostly the last one, because a source has one process
// after the other. It is -1 if there are no blocks.
func (r *ranking) blockOf(series int32, ordered func(a, b int32) int) int {
	last := len(r.order) - 1
	if last <= 0 || ordered(r.blocks[r.order[last]][0], series) <= 0 {
		return last
	}
	return max(0, sort.Search(last, func(k int) bool { return ordered(r.blocks[r.order[k]][0], series) > 0 })-1)
}

// insert adds series, in order, to the block at a place. If they are too many for it, more blocks follow it.
func (r *ranking) insert(at int, fresh []int32, ordered func(a, b int32) int) {
	var block []int32
	if at < 0 {
		at = r.begin(0)
	} else {
		block = r.blocks[r.order[at]]
	}
	from := len(block) // of those that move
	for from > 0 && ordered(block[from-1], fresh[0]) > 0 {
		from--
	}
	merged := append(r.merged[:0], block[:from]...)
	for block = block[from:]; len(block) > 0 && len(fresh) > 0; {
		if ordered(block[0], fresh[0]) <= 0 {
			merged, block = append(merged, block[0]), block[1:]
		} else {
			merged, fresh = append(merged, fresh[0]), fresh[1:]
		}
	}
	merged = append(append(merged, block...), fresh...)
	r.merged = merged
	size := rankedTogether
	if at < len(r.order)-1 && len(merged) > size {
		size = rankedTogether * 2 / 3 // others may come between them
	}
	for ; len(merged) > size; at++ {
		r.keep(at, merged[:size], min(from, size))
		r.begin(at + 1)
		merged, from = merged[size:], 0
	}
	r.keep(at, merged, from)
}

// begin makes an empty block at a place.
func (r *ranking) begin(at int) int {
	r.order = slices.Insert(r.order, at, int32(len(r.blocks)))
	r.blocks, r.places = append(r.blocks, make([]int32, 0, rankedTogether)), append(r.places, 0)
	for i := at; i < len(r.order); i++ {
		r.places[r.order[i]] = int32(i)
	}
	return at
}

// keep makes series the block at a place, of which those from from on are new there.
func (r *ranking) keep(at int, series []int32, from int) {
	id := r.order[at]
	r.blocks[id] = append(r.blocks[id][:from], series[from:]...)
	for i := from; i < len(series); i++ {
		r.ranked[series[i]] = uint32(id)*rankedTogether + uint32(i)
	}
}

// holds reports whether the order is that of places, by number. Several series may have one place.
func (r *ranking) holds(places []int32) bool {
	last := int32(0)
	for _, id := range r.order {
		for _, n := range r.blocks[id] {
			if places[n] < last {
				return false
			}
			last = places[n]
		}
	}
	return true
}

// compareSeries orders series with provisional ids as they will be with final ones, as far as that can be told now. The caller
// holds the locks of the tables and of their tracks.
func (t *Tables) compareSeries(a, b Series) int {
	process := func(id ProcessID) bool { return id > 0 && int(id) <= len(t.Processes) }
	tracks := &t.Tracks.set
	track := func(id TrackID) bool { return id > 0 && int(id) <= tracks.Len() }
	switch {
	case a.Part != b.Part:
	case a.Process != b.Process:
		if process(a.Process) && process(b.Process) {
			return cmp.Or(compareProcesses(t.Process(a.Process), t.Process(b.Process)), a.Compare(b))
		}
	case a.Track != b.Track:
		if track(a.Track) && track(b.Track) {
			return cmp.Or(compareTracks(tracks.At(a.Track), tracks.At(b.Track)), a.Compare(b))
		}
	}
	return a.Compare(b)
}
