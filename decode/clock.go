package decode

import (
	"cmp"
	"math/bits"
	"slices"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

// Clock places a process on the time line of a run: a monotonic time m is the
// moment Realtime + (m - Monotonic).
type Clock struct {
	Monotonic uint64
	Realtime  int64
}

// At is the moment of a monotonic time.
func (c Clock) At(monotonic uint64) stream.Time {
	return stream.Time(c.Realtime + int64(monotonic-c.Monotonic))
}

// ticks turns the ticks of one chunk's clock into monotonic nanoseconds.
type ticks []rawformat.Anchor // of a TSC, ascending; empty: the ticks are nanoseconds

// newTicks collects the anchors of a process' chunks. They tie the time-stamp
// counter to the monotonic clock; between two of them the rate is constant, and
// beyond the last it stays what it was.
func newTicks(images []*chunks.Image) ticks {
	var t ticks
	for _, im := range images {
		for _, a := range []rawformat.Anchor{im.Header.Open, im.Header.Close} {
			if im.Header.Clock() == rawformat.ClockTSC && a.TSC != 0 && a.Monotonic != 0 {
				t = append(t, a)
			}
		}
	}
	slices.SortFunc(t, func(a, b rawformat.Anchor) int { return cmp.Compare(a.TSC, b.TSC) })
	return slices.CompactFunc(t, func(a, b rawformat.Anchor) bool { return a.TSC == b.TSC })
}

// monotonic is the time of a tick count, exact to the anchors' precision. With
// fewer than two anchors the counter is taken to tick once a nanosecond.
func (t ticks) monotonic(tick uint64) uint64 {
	if len(t) == 0 {
		return tick
	}
	if len(t) == 1 {
		return t[0].Monotonic + tick - t[0].TSC
	}
	i, _ := slices.BinarySearchFunc(t, tick, func(a rawformat.Anchor, tick uint64) int { return cmp.Compare(a.TSC, tick) })
	i = min(max(i, 1), len(t)-1)
	a, b := t[i-1], t[i]
	if tick < a.TSC {
		return a.Monotonic - scale(a.TSC-tick, b.Monotonic-a.Monotonic, b.TSC-a.TSC)
	}
	return a.Monotonic + scale(tick-a.TSC, b.Monotonic-a.Monotonic, b.TSC-a.TSC)
}

// scale is x * num / den in 128 bits, the highest value if it does not fit.
func scale(x, num, den uint64) uint64 {
	hi, lo := bits.Mul64(x, num)
	if hi >= den {
		return ^uint64(0)
	}
	q, _ := bits.Div64(hi, lo, den)
	return q
}
