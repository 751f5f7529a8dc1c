package chunks

import "gprof/rawformat"

// LastCommit is the latest moment known from a process' chunks: that of an anchor, or
// of a block in a chunk that was not closed. Zero: none is known.
func (p *Process) LastCommit() (last rawformat.Anchor) {
	ticks := p.ticks()
	for _, im := range p.Chunks {
		last = later(last, later(im.Header.Open, im.Header.Close))
		if !im.Closed {
			last = later(last, ticks.anchor(im.Header, lastTime(im)))
		}
	}
	return last
}

func later(a, b rawformat.Anchor) rawformat.Anchor {
	if b.Monotonic > a.Monotonic {
		return b
	}
	return a
}

// lastTime is the latest time of the intact blocks of a chunk, in ticks.
func lastTime(im *Image) (last uint64) {
	r := NewReader([]*Image{im}, nil)
	var now uint64
	for r.Next() {
		b := r.Block()
		now = timeOf(b, now)
		last = max(last, now)
	}
	return last
}

// timeOf is the time of a block, or that of the block before if it has none.
func timeOf(b Block, before uint64) uint64 {
	for _, f := range rawformat.Kinds[b.Kind].Fields {
		switch {
		case b.Kind == rawformat.KindSync && f.Name == "time":
			before = b.Fields.Uint(f.Name)
		case f.Type.TimeUnit() != 0:
			before += uint64(b.Fields.Sint(f.Name)) * f.Type.TimeUnit()
		case f.Type == rawformat.Uint:
			b.Fields.Uint(f.Name)
			continue
		}
		break // a time is preceded by unsigned integers only
	}
	return before
}

// tickRate is how many ns a tick of the time-stamp counter takes; 0: unknown.
type tickRate float64

// ticks computes the rate from the anchors that are farthest apart.
func (p *Process) ticks() tickRate {
	var first, last rawformat.Anchor
	for _, im := range p.Chunks {
		for _, a := range []rawformat.Anchor{im.Header.Open, im.Header.Close} {
			if a.TSC != 0 && (first.TSC == 0 || a.TSC < first.TSC) {
				first = a
			}
			if a.TSC > last.TSC {
				last = a
			}
		}
	}
	if last.TSC <= first.TSC || last.Monotonic <= first.Monotonic {
		return 0
	}
	return tickRate(last.Monotonic-first.Monotonic) / tickRate(last.TSC-first.TSC)
}

// maxChunkTime is the longest time for which a chunk is believed to have been open: ten
// years, in ns.
const maxChunkTime = 10 * 365 * 24 * 3600 * 1e9

// anchor converts a time in the chunk with that header to the other clocks, counted from
// when the chunk was opened; zero if that is not possible.
func (r tickRate) anchor(h rawformat.Header, t uint64) (a rawformat.Anchor) {
	base, rate := h.Open.Monotonic, tickRate(1)
	if h.Clock() == rawformat.ClockTSC {
		base, rate = h.Open.TSC, r
	}
	since := float64(t-base) * float64(rate)
	if t < base || since > maxChunkTime {
		return a
	}
	return rawformat.Anchor{Monotonic: h.Open.Monotonic + uint64(since), Realtime: h.Open.Realtime + int64(since)}
}
