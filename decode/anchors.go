package decode

import (
	"cmp"
	"slices"
	"strconv"

	"gprof/chunks"
	"gprof/rawformat"
)

// Anchor is one reading of a process' clocks at one moment, in ns.
type Anchor struct {
	Monotonic uint64
	Realtime  int64  // since the Unix epoch
	Boottime  uint64 // counts while the machine is suspended; 0 unknown
}

// maxClock is where clocks end: 146 years. The difference of two offsets
// between clocks that keep to it fits an int64.
const maxClock = 1 << 62

// Offset is how far real time is ahead of monotonic time.
func (a Anchor) Offset() int64 { return a.Realtime - int64(a.Monotonic) }

func (a Anchor) usable() bool {
	return a.Monotonic > 0 && a.Monotonic < maxClock && a.Realtime > 0 && a.Realtime < maxClock
}

// Anchors are the readings of a process' clocks that its meta file, its exit
// record and the headers of its chunks hold, ascending, one for each monotonic
// time. Readings that no clock shows are left out.
func Anchors(p *chunks.Process) []Anchor {
	var all []Anchor
	mono, _ := strconv.ParseUint(meta(p, rawformat.MetaStartMono), 10, 64) // 0: not usable
	all = append(all, Anchor{Monotonic: mono, Realtime: startRealtime(p)})
	for _, im := range slices.Concat(p.Chunks, p.LeftOut) {
		all = append(all, anchorOf(im.Header.Open))
		if im.Closed {
			all = append(all, anchorOf(im.Header.Close))
		}
	}
	// Who tells another process' end does not read its monotonic clock.
	if e := p.Exit; e != nil && (e.Reason == rawformat.ExitStopped || e.Reason == rawformat.ExitPanic) {
		all = append(all, Anchor{Monotonic: e.Monotonic, Realtime: e.Realtime})
	}
	return sortAnchors(all)
}

func anchorOf(a rawformat.Anchor) Anchor { return Anchor{Monotonic: a.Monotonic, Realtime: a.Realtime} }

// ReadAnchors reads some chunks of p and returns the readings that their anchor
// blocks hold, like [Anchors], and the monotonic time of the latest block, 0 if
// there is none. What is wrong with the chunks is told when they are decoded.
func ReadAnchors(p *chunks.Process, images []*chunks.Image) (all []Anchor, last uint64) {
	blocks := chunks.NewReader(images, nil)
	var found found
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

// found is what blocks say of time.
type found struct {
	anchors      []Anchor
	readings     []rawformat.Anchor // the same, with the counter
	tick, latest uint64             // of the last block, and of the latest one in a run
}

// run reads intact blocks that lie one after the other.
func (f *found) run(data []byte) {
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

// blockTick reads a block as far as its time. Blocks without one have that of
// the block before.
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

// MergeAnchors is both lists as one.
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
	real, _ := strconv.ParseInt(meta(p, rawformat.MetaStartReal), 10, 64)
	return real
}

// RealTime is a moment of the real time of which it is not known what the
// monotonic clock showed: the earliest of the best kind that there is. from
// says what tells it; it is empty if nothing does.
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

// ExitTime is the monotonic time that p's exit record tells, 0 if it tells none
// that a clock shows.
func ExitTime(p *chunks.Process) uint64 {
	if p.Exit == nil || p.Exit.Monotonic >= maxClock {
		return 0
	}
	return p.Exit.Monotonic
}

// FirstTime is the monotonic time with which the first chunk begins, 0 if there
// is none. It reads that chunk.
func FirstTime(p *chunks.Process) uint64 {
	latest := map[uint64]uint64{} // range starts by epoch
	for _, im := range p.Chunks {
		latest[im.Header.Epoch] = im.Header.RangeStart
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
