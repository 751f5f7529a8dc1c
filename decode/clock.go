package decode

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

// Clock places a process on the time line of a run. It is a value, for concurrent use. The zero
// Clock takes monotonic time for time since the epoch.
//
// Most clocks are one offset, so At is one addition. If the machine was suspended, restored or
// had its time set, the clock has pieces. At never falls while monotonic time rises.
type Clock struct {
	offset int64
	pieces []Piece // nil: one offset
}

// Piece is a range of monotonic time, up to the next piece. At its beginning a monotonic time m is
// at m + Offset; the offset changes evenly by Drift up to its end. The first piece begins, and the
// last one ends, with time.
type Piece struct {
	From   uint64 // monotonic, ns
	Offset int64  // ns
	Drift  int64  // ns
}

// Fixed is the clock of one offset, in ns from the monotonic to the real time.
func Fixed(offset int64) Clock { return Clock{offset: offset} }

// Piecewise is the clock of some pieces, at least one, ascending by From. The clock keeps the
// slice. The first and last one don't drift, and none by more than its length.
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

// piecewise is At of a clock with pieces.
func (c Clock) piecewise(monotonic uint64) stream.Time {
	if int64(monotonic) < 0 { // before the machine was started
		return stream.Time(int64(monotonic) + c.pieces[0].Offset)
	}
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

// ticks converts the ticks of one chunk's clock to monotonic ns.
type ticks []rawformat.Anchor // of a TSC, ascending; empty: the ticks are nanoseconds

// allTicks are the ticks by all anchors of a process, including those in blocks.
func allTicks(p *chunks.Process) ticks {
	var anchored []*chunks.Image
	for _, im := range p.Chunks {
		if im.Header.Clock() == rawformat.ClockTSC && im.Header.Flags&rawformat.FlagAnchors != 0 {
			anchored = append(anchored, im)
		}
	}
	var found anchorScan
	for r := chunks.NewReader(anchored, nil); r.NextRun(); { // what is wrong with them is told when they are decoded
		found.run(r.Run().Data)
	}
	return newTicks(slices.Concat(p.Chunks, p.LeftOut), found.readings)
}

// newTicks collects the anchors in chunk headers and some in blocks. They tie the TSC to the
// monotonic clock; between two of them the rate is constant, and beyond the last it continues.
// Anchors by which time would fall while the counter rises are dropped.
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
	return rising.extrapolate()
}

const (
	rateSpan = 100 * 1e6  // ns between two anchors that determine a rate, so that some ns of error hardly matter
	farSpan  = 3600 * 1e9 // ns
)

// extrapolate adds an anchor far after the last. The last two by themselves would not do: they may
// be as close as they are wrong.
func (t ticks) extrapolate() ticks {
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

// monotonic is the time of a tick count, as exact as the anchors. With fewer than two of them the
// counter is assumed to tick once a nanosecond.
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

// before is the time of that many ticks before 0, in two's complement if it is negative.
func (t ticks) before(ticks uint64) uint64 {
	if len(t) < 2 {
		return t.monotonic(0) - ticks
	}
	return t.monotonic(0) - scale(ticks, t[1].Monotonic-t[0].Monotonic, t[1].TSC-t[0].TSC)
}

// segment is the segment of a tick count, or the next one; there are two anchors at least.
func (t ticks) segment(tick uint64) segment {
	i, _ := slices.BinarySearchFunc(t, tick, func(a rawformat.Anchor, tick uint64) int { return cmp.Compare(a.TSC, tick) })
	i = min(max(i, 1), len(t)-1)
	return segment{t[i-1], t[i]}
}

// segment is the range between two neighbouring anchors. A worker caches the last one, because the
// next tick is mostly in it, too.
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

// scale is x * num / den in 128 bits, saturated.
func scale(x, num, den uint64) uint64 {
	hi, lo := bits.Mul64(x, num)
	if hi >= den {
		return ^uint64(0)
	}
	q, _ := bits.Div64(hi, lo, den)
	return q
}

// Anchor is a reading of a process's clocks at one moment, in ns.
type Anchor struct {
	Monotonic uint64
	Realtime  int64  // since the Unix epoch
	Boottime  uint64 // also counts while the machine is suspended; 0 unknown
}

// maxClock is the end of clocks, 146 years, so that differences of offsets fit an int64.
const maxClock = 1 << 62

// Offset is how far real time is ahead of monotonic time.
func (a Anchor) Offset() int64 { return a.Realtime - int64(a.Monotonic) }

func (a Anchor) usable() bool {
	return a.Monotonic > 0 && a.Monotonic < maxClock && a.Realtime > 0 && a.Realtime < maxClock
}

// Anchors are the clock readings in a process's meta file, exit record and chunk headers,
// ascending, one for each monotonic time. Impossible ones are dropped.
func Anchors(p *chunks.Process) []Anchor {
	var all []Anchor
	mono, _ := strconv.ParseUint(p.Value(rawformat.MetaStartMono), 10, 64) // 0: not usable
	all = append(all, Anchor{Monotonic: mono, Realtime: startRealtime(p)})
	for _, im := range slices.Concat(p.Chunks, p.LeftOut) {
		all = append(all, anchorOf(im.Header.Open))
		if im.Closed {
			all = append(all, anchorOf(im.Header.Close))
		}
	}
	// Only a process that ended by itself read its own monotonic clock.
	if e := p.Exit; e != nil && (e.Reason == rawformat.ExitStopped || e.Reason == rawformat.ExitPanic) {
		all = append(all, Anchor{Monotonic: e.Monotonic, Realtime: e.Realtime})
	}
	return sortAnchors(all)
}

func anchorOf(a rawformat.Anchor) Anchor { return Anchor{Monotonic: a.Monotonic, Realtime: a.Realtime} }

// ReadAnchors returns the readings in anchor blocks of some chunks of p, like [Anchors], and the
// monotonic time of the latest block, 0 if there is none. Damage is reported by decoding.
func ReadAnchors(p *chunks.Process, images []*chunks.Image) (all []Anchor, last uint64) {
	blocks := chunks.NewReader(images, nil)
	var found anchorScan
	var latest [2]uint64 // by clock, of two kinds
	for blocks.NextRun() {
		r := blocks.Run()
		found.latest = 0
		found.run(r.Data)
		kind := r.Chunk.Header.Clock() & 1
		latest[kind] = max(latest[kind], found.latest)
	}
	latest[rawformat.ClockTSC] = newTicks(slices.Concat(p.Chunks, p.LeftOut), found.readings).monotonic(latest[rawformat.ClockTSC])
	for _, m := range latest {
		if m < maxClock {
			last = max(last, m)
		}
	}
	return sortAnchors(found.anchors), last
}

// anchorScan is what blocks say of time.
type anchorScan struct {
	anchors      []Anchor
	readings     []rawformat.Anchor // the same, with the TSC
	tick, latest uint64             // of the last block, and of the latest in a run
}

// run reads consecutive intact blocks.
func (f *anchorScan) run(data []byte) {
	for len(data) > 0 {
		n, size, _ := rawformat.ReadUint(data)
		k, c := rawformat.Kind(data[size]), rawformat.NewCursor(data[size+1:size+int(n)], 0)
		data = data[size+int(n):]
		if tick := blockTick(k, &c, f.tick); c.Err() == nil {
			f.tick, f.latest = tick, max(f.latest, tick)
		}
		if k != rawformat.KindAnchor {
			continue
		}
		tsc := c.Uint("tsc")
		a := Anchor{Monotonic: c.Uint("monotonic"), Realtime: c.Sint("realtime"), Boottime: c.Uint("boottime")}
		if a.Boottime >= maxClock {
			a.Boottime = 0
		}
		if c.Err() == nil {
			f.anchors = append(f.anchors, a)
			f.readings = append(f.readings, rawformat.Anchor{TSC: tsc, Monotonic: a.Monotonic})
		}
	}
}

// blockTick reads a block up to its time. Blocks without one have that of the block before.
func blockTick(k rawformat.Kind, c *rawformat.Cursor, tick uint64) uint64 {
	if k == rawformat.KindSync {
		c.Uint("index")
		c.Uint("epoch")
		return c.Uint("time")
	}
	for _, f := range rawformat.Kinds[k].Fields {
		switch f.Type {
		case rawformat.Uint:
			c.Uint(f.Name)
		case rawformat.Time, rawformat.Coarse:
			return tick + uint64(c.Sint(f.Name))*f.Type.TimeUnit()
		default:
			return tick
		}
	}
	return tick
}

// MergeAnchors merges both lists.
func MergeAnchors(a, b []Anchor) []Anchor { return sortAnchors(append(slices.Clip(a), b...)) }

func sortAnchors(all []Anchor) []Anchor {
	all = slices.DeleteFunc(all, func(a Anchor) bool { return !a.usable() })
	slices.SortFunc(all, func(a, b Anchor) int { // the one that knows more first
		return cmp.Or(cmp.Compare(a.Monotonic, b.Monotonic), cmp.Compare(b.Boottime, a.Boottime), cmp.Compare(a.Realtime, b.Realtime))
	})
	return slices.CompactFunc(all, func(a, b Anchor) bool { return a.Monotonic == b.Monotonic })
}

// startRealtime is what meta says, 0 if it says nothing.
func startRealtime(p *chunks.Process) int64 {
	real, _ := strconv.ParseInt(p.Value(rawformat.MetaStartReal), 10, 64)
	return real
}

// RealTime is a real time whose monotonic time is unknown: the earliest of the best source. from
// names the source; "" if there is none.
func RealTime(p *chunks.Process) (at int64, from string) {
	if at := startRealtime(p); at > 0 && at < maxClock {
		return at, "the real time of its start"
	}
	for _, im := range p.Chunks {
		if real := im.Header.Open.Realtime; real > 0 && real < maxClock && (from == "" || real < at) {
			at, from = real, "the real time in a chunk's header"
		}
	}
	if e := p.Exit; from == "" && e != nil && e.Realtime > 0 && e.Realtime < maxClock {
		return e.Realtime, "the real time of its end"
	}
	return at, from
}

// ExitTime is the monotonic time in p's exit record, 0 if missing or impossible.
func ExitTime(p *chunks.Process) uint64 {
	if p.Exit == nil || p.Exit.Monotonic >= maxClock {
		return 0
	}
	return p.Exit.Monotonic
}

// FirstTime is the monotonic time at which the first chunk begins, 0 if there is none. It reads
// that chunk.
func FirstTime(p *chunks.Process) uint64 {
	latest := map[uint64]uint64{} // range starts by epoch
	for i, im := range p.Chunks {
		if i == 0 || !im.Continues(p.Chunks[i-1]) {
			latest[im.Header.Epoch] = im.Header.RangeStart
		}
	}
	blocks := p.Blocks(nil)
	for blocks.Next() {
		b := blocks.Block()
		if h := &b.Chunk.Header; latest[h.Epoch] > h.RangeStart {
			continue // what a slice keeps of older pages
		}
		if c := b.Fields; b.Kind == rawformat.KindSync {
			tick := blockTick(b.Kind, &c, 0)
			if b.Chunk.Header.Clock() == rawformat.ClockTSC {
				return newTicks(slices.Concat(p.Chunks, p.LeftOut), nil).monotonic(tick)
			}
			return tick
		}
	}
	return 0
}
