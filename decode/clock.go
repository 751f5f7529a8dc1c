package decode

import (
	"cmp"
	"math/bits"
	"slices"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

// Clock places a process on the time line of a run. It is a value: decoders
// that run side by side may share it. The zero Clock takes monotonic time for
// time since the epoch.
//
// Most clocks are one offset, and At is one addition. Where the machine was
// suspended, restored or had its time set, the offset changes: then a clock has
// pieces. Whatever they are, At never falls while the monotonic time rises.
type Clock struct {
	offset int64
	pieces []Piece // nil: the offset holds throughout
}

// Piece is a stretch of monotonic time, up to the next piece. At its beginning
// the moment of a monotonic time m is m + Offset; up to its end the offset
// changes evenly by Drift. The first piece reaches back to the beginning of
// time, the last one to the end.
type Piece struct {
	From   uint64 // monotonic, ns
	Offset int64  // ns
	Drift  int64  // ns
}

// Fixed is the clock of one offset, in ns from the monotonic to the real time.
func Fixed(offset int64) Clock { return Clock{offset: offset} }

// Piecewise is the clock of some pieces, at least one, ascending by From. The
// clock keeps the slice. The first and the last one drift not, and none by more
// than it is long.
func Piecewise(pieces []Piece) Clock {
	if len(pieces) == 1 {
		return Fixed(pieces[0].Offset)
	}
	return Clock{pieces: pieces}
}

// At is the moment of a monotonic time.
func (c Clock) At(monotonic uint64) stream.Time {
	if c.pieces != nil {
		return c.piecewise(monotonic)
	}
	return stream.Time(int64(monotonic) + c.offset)
}

// piecewise is At of a clock that has pieces.
func (c Clock) piecewise(monotonic uint64) stream.Time {
	i, exact := slices.BinarySearchFunc(c.pieces, monotonic, func(p Piece, m uint64) int { return cmp.Compare(p.From, m) })
	if !exact {
		i = max(0, i-1)
	}
	p := c.pieces[i]
	offset := p.Offset
	if p.Drift != 0 && i+1 < len(c.pieces) {
		offset += share(p.Drift, monotonic-p.From, c.pieces[i+1].From-p.From)
	}
	return stream.Time(int64(monotonic) + offset)
}

// share is drift * at / span, for at up to span.
func share(drift int64, at, span uint64) int64 {
	if drift < 0 {
		return -int64(scale(uint64(-drift), at, span))
	}
	return int64(scale(uint64(drift), at, span))
}

// ticks turns the ticks of one chunk's clock into monotonic nanoseconds.
type ticks []rawformat.Anchor // of a TSC, ascending; empty: the ticks are nanoseconds

// allTicks are the ticks by all anchors of a process, those in blocks too. It
// reads the chunks that have such.
func allTicks(p *chunks.Process) ticks {
	var anchored []*chunks.Image
	for _, im := range p.Chunks {
		if im.Header.Clock() == rawformat.ClockTSC && im.Header.Flags&rawformat.FlagAnchors != 0 {
			anchored = append(anchored, im)
		}
	}
	var found found
	for r := chunks.NewReader(anchored, nil); r.NextRun(); { // what is wrong with them is told when they are decoded
		found.run(r.Run().Data)
	}
	return newTicks(slices.Concat(p.Chunks, p.LeftOut), found.readings)
}

// newTicks collects the anchors of chunks' headers, and some of blocks. They tie
// the time-stamp counter to the monotonic clock; between two of them the rate is
// constant, and beyond the last it stays what it was. Anchors by which time would
// fall while the counter rises are left out.
func newTicks(images []*chunks.Image, blocks []rawformat.Anchor) ticks {
	var t ticks
	add := func(a rawformat.Anchor) {
		if a.TSC != 0 && a.Monotonic != 0 {
			t = append(t, a)
		}
	}
	for _, im := range images {
		if im.Header.Clock() == rawformat.ClockTSC {
			add(im.Header.Open)
			add(im.Header.Close)
		}
	}
	if len(t) == 0 {
		return nil
	}
	for _, a := range blocks {
		add(a)
	}
	slices.SortFunc(t, func(a, b rawformat.Anchor) int {
		return cmp.Or(cmp.Compare(a.TSC, b.TSC), cmp.Compare(a.Monotonic, b.Monotonic))
	})
	rising := t[:0]
	for _, a := range t {
		if n := len(rising); n == 0 || a.TSC > rising[n-1].TSC && a.Monotonic >= rising[n-1].Monotonic {
			rising = append(rising, a)
		}
	}
	return rising.goOn()
}

const (
	rateSpan = 100 * 1e6  // ns between two anchors that tell a rate: some ns of either count little
	farSpan  = 3600 * 1e9 // ns
)

// goOn adds an anchor far behind the last. To go on by the last two, as chance has
// them, would not do: they may be as close to each other as they are wrong.
func (t ticks) goOn() ticks {
	last := len(t) - 1
	from := last - 1
	for from > 0 && t[last].Monotonic-t[from].Monotonic < rateSpan {
		from--
	}
	if last < 1 || t[last].Monotonic == t[from].Monotonic {
		return t
	}
	counter, mono := t[last].TSC-t[from].TSC, t[last].Monotonic-t[from].Monotonic
	far := rawformat.Anchor{TSC: t[last].TSC + scale(counter, farSpan, mono), Monotonic: t[last].Monotonic + farSpan}
	if far.TSC <= t[last].TSC || far.Monotonic < farSpan { // nobody's counter
		return t
	}
	return append(t, far)
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
	s := t.segment(tick)
	return s.monotonic(tick)
}

// segment is the one that a tick count is in, or next to; there are two anchors
// at least.
func (t ticks) segment(tick uint64) segment {
	i, _ := slices.BinarySearchFunc(t, tick, func(a rawformat.Anchor, tick uint64) int { return cmp.Compare(a.TSC, tick) })
	i = min(max(i, 1), len(t)-1)
	return segment{t[i-1], t[i]}
}

// segment is what lies between two neighbouring anchors. A worker keeps that of
// the last tick, because the next one is in it, too, as a rule.
type segment struct{ from, to rawformat.Anchor }

// at is monotonic of t, which has two anchors at least.
func (s *segment) at(t ticks, tick uint64) uint64 {
	if tick-s.from.TSC-1 >= s.to.TSC-s.from.TSC { // not behind from and up to to
		*s = t.segment(tick)
	}
	return s.monotonic(tick)
}

func (s *segment) monotonic(tick uint64) uint64 {
	a, b := &s.from, &s.to
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
