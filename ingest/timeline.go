package ingest

import (
	"cmp"
	"slices"
	"time"

	"gprof/decode"
)

const (
	// maxSkew is how far two readings of real time may disagree while the monotonic clock counts
	// evenly.
	maxSkew = int64(50 * time.Millisecond)
	// grain is how far readings of one stretch may be apart. Reading two clocks is that exact, even
	// if preempted in between.
	grain = int64(time.Millisecond)
	// maxDrift is one over the fastest drift of a slewed clock: kernels allow 500 ppm, and the
	// crystal may be off by as much. Anything faster is a step.
	maxDrift = 1000
)

// timeline is what anchors tell of one monotonic clock: how far real time is ahead, and when that
// changed.
type timeline struct{ stretches []stretch } // ascending, none overlaps another

// stretch is a range of monotonic time in which all anchors agree.
type stretch struct {
	from, to uint64 // first and last anchor
	offset   int64  // of real time
	asleep   int64  // how long the machine was suspended (boottime ahead of monotonic time); -1 unknown
}

// newTimeline is the timeline of one process, whose anchors ascend.
func newTimeline(anchors []decode.Anchor) *timeline {
	t := new(timeline)
	for _, a := range anchors {
		r := stretch{a.Monotonic, a.Monotonic, a.Offset(), -1}
		if a.Boottime >= a.Monotonic {
			r.asleep = int64(a.Boottime - a.Monotonic)
		}
		t.add(r)
	}
	return t
}

// first and last are the monotonic times between which the timeline is known.
func (t *timeline) first() uint64 { return t.stretches[0].from }
func (t *timeline) last() uint64  { return t.stretches[len(t.stretches)-1].to }

// find returns the first stretch that does not end before a time.
func (t *timeline) find(monotonic uint64) int {
	i, _ := slices.BinarySearchFunc(t.stretches, monotonic, func(r stretch, m uint64) int { return cmp.Compare(r.to, m) })
	return i
}

// add takes one more anchor.
func (t *timeline) add(a stretch) {
	i := t.find(a.from)
	switch {
	case i < len(t.stretches) && t.stretches[i].from <= a.from:
		t.stretches[i].wake(a)
	case i > 0 && within(a.offset, t.stretches[i-1].offset, grain):
		t.stretches[i-1].to = a.from
		t.stretches[i-1].wake(a)
	case i < len(t.stretches) && within(a.offset, t.stretches[i].offset, grain):
		t.stretches[i].from = a.from
		t.stretches[i].wake(a)
	default:
		t.stretches = slices.Insert(t.stretches, i, a)
	}
}

func (r *stretch) wake(a stretch) {
	if r.asleep < 0 {
		r.asleep = a.asleep
	}
}

func within(a, b, limit int64) bool { return a-b <= limit && b-a <= limit }

// known returns the bounds of the offset at a time. Outside of all anchors it is not ok, and the
// nearest offset.
func (t *timeline) known(monotonic uint64) (low, high int64, ok bool) {
	i := t.find(monotonic)
	if i == len(t.stretches) {
		i--
	}
	low, high = t.stretches[i].offset, t.stretches[i].offset
	if i > 0 && monotonic < t.stretches[i].from {
		low, high = min(low, t.stretches[i-1].offset), max(high, t.stretches[i-1].offset)
	}
	return low, high, t.first() <= monotonic && monotonic <= t.last()
}

// join takes the anchors of another process of the same boot, which begin no earlier, if both can
// have read the same clocks: wherever both are known they agree on real time. If they never
// overlap, real time may have advanced meanwhile, as while a machine is suspended.
func (t *timeline) join(o *timeline) bool {
	if o.first() > t.last() && o.stretches[0].offset < t.stretches[len(t.stretches)-1].offset-maxSkew {
		return false
	}
	for _, r := range o.stretches {
		for _, m := range [...]uint64{r.from, r.to} {
			low, high, ok := t.known(m)
			if ok && (r.offset < low-maxSkew || r.offset > high+maxSkew) {
				return false
			}
		}
	}
	for _, r := range o.stretches {
		for _, m := range [...]uint64{r.from, r.to} {
			t.add(stretch{m, m, r.offset, r.asleep})
		}
	}
	return true
}

// clock maps monotonic to real time:
//
//  1. If all anchors agree within maxSkew it is one offset, the first one: exactly monotonic.
//  2. Else it follows real time wherever that keeps the order. It can't follow a clock that is set
//     back: then the later anchors count, because setting a clock back corrects it, and what comes
//     before moves with them.
//  3. Between two stretches the offset changes evenly if a clock can drift that fast; else at once,
//     in the middle, where the error is smallest.
func (t *timeline) clock() decode.Clock {
	if t.steady() {
		return decode.Fixed(t.stretches[0].offset)
	}
	offsets := t.offsets()
	pieces := []decode.Piece{{Offset: offsets[0]}}
	for i, r := range t.stretches[:len(t.stretches)-1] {
		next := decode.Piece{From: t.stretches[i+1].from, Offset: offsets[i+1]}
		if gap, change := t.gap(i), offsets[i+1]-offsets[i]; change > int64(gap/maxDrift) {
			next.From = r.to + (gap+1)/2
		} else {
			pieces = appendPiece(pieces, decode.Piece{From: r.to, Offset: offsets[i], Drift: change})
		}
		pieces = appendPiece(pieces, next)
	}
	return decode.Piecewise(pieces)
}

// appendPiece replaces an empty last piece.
func appendPiece(pieces []decode.Piece, p decode.Piece) []decode.Piece {
	if n := len(pieces) - 1; pieces[n].From == p.From {
		pieces = pieces[:n]
	}
	return append(pieces, p)
}

func (t *timeline) steady() bool {
	return !slices.ContainsFunc(t.stretches, func(r stretch) bool { return !within(r.offset, t.stretches[0].offset, maxSkew) })
}

// gap is the time between a stretch and the next.
func (t *timeline) gap(i int) uint64 { return t.stretches[i+1].from - t.stretches[i].to }

// offsets are the offsets of the stretches, where one that falls to the next faster than a clock
// drifts is replaced by the next.
func (t *timeline) offsets() []int64 {
	offsets := make([]int64, len(t.stretches))
	for i := len(t.stretches) - 1; i >= 0; i-- {
		offsets[i] = t.stretches[i].offset
		if i+1 < len(t.stretches) && offsets[i]-offsets[i+1] > int64(t.gap(i)/maxDrift) {
			offsets[i] = offsets[i+1]
		}
	}
	return offsets
}
