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
	for _, im := range p.Chunks {
		all = append(all, anchorOf(im.Header.Open))
		if im.Closed {
			all = append(all, anchorOf(im.Header.Close))
		}
	}
	// Who tells another process' end does not read its monotonic clock.
	if e := p.Exit; e != nil && e.Reason == rawformat.ExitStopped {
		all = append(all, Anchor{Monotonic: e.Monotonic, Realtime: e.Realtime})
	}
	return sortAnchors(all)
}

func anchorOf(a rawformat.Anchor) Anchor { return Anchor{Monotonic: a.Monotonic, Realtime: a.Realtime} }

// AnchorBlocks reads some chunks of a process and returns the readings that
// their anchor blocks hold, like [Anchors]. What is wrong with the chunks is
// told when they are decoded.
func AnchorBlocks(images []*chunks.Image) []Anchor {
	var all []Anchor
	blocks := chunks.NewReader(images, nil)
	for blocks.Next() {
		b := blocks.Block()
		if b.Kind != rawformat.KindAnchor {
			continue
		}
		c := b.Fields
		c.Sint("time")
		c.Uint("tsc")
		a := Anchor{Monotonic: c.Uint("monotonic"), Realtime: c.Sint("realtime"), Boottime: c.Uint("boottime")}
		if c.Err() == nil {
			all = append(all, a)
		}
	}
	return sortAnchors(all)
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

// FirstTime is the monotonic time with which the first chunk begins, 0 if there
// is none. It reads that chunk.
func FirstTime(p *chunks.Process) uint64 {
	blocks := p.Blocks(nil)
	for blocks.Next() {
		b := blocks.Block()
		if b.Kind != rawformat.KindSync {
			continue
		}
		c := b.Fields
		c.Uint("index")
		c.Uint("epoch")
		if tick := c.Uint("time"); b.Chunk.Header.Clock() == rawformat.ClockTSC {
			return newTicks(p.Chunks).monotonic(tick)
		} else {
			return tick
		}
	}
	return 0
}
