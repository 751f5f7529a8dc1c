package ingest

import (
	"cmp"
	"slices"

	"gprof/chunks"
	"gprof/decode"
)

// aligner puts processes on one time line.
type aligner struct {
	boots   map[string]*boot // by boot id
	known   []*placed        // by their first anchor
	unknown []*Process       // that have none
	foreign []*Process       // of other tools, which tell their times in ways of their own
}

// boot is one boot of a machine, with the monotonic clocks that its processes
// were shown. There is one, but for time namespaces, and for machines that were
// copied while they ran.
type boot struct{ lines []*timeline }

// placed is a process and what it knows of its clock.
type placed struct {
	*Process
	own    *timeline
	shared *timeline // of all processes that read the same clock
	later  bool      // no process before it was known to live when it began
	boot   *boot
}

// align puts processes on one time line:
//
//  1. Processes of one boot whose readings of the real time agree read the same
//     monotonic clock: they get one map to real time, so that their order is
//     exact.
//  2. What disagrees has a monotonic clock of its own, and a map of its own.
//  3. A process without any reading is placed by its start time.
//
// What is not exact, [aligner.note] tells.
func align(processes []*Process) *aligner {
	a := &aligner{boots: map[string]*boot{}}
	for _, p := range processes {
		if p.foreign != nil {
			a.foreign = append(a.foreign, p)
		} else if p.completeAnchors(); len(p.anchors) == 0 {
			a.unknown = append(a.unknown, p)
		} else {
			a.known = append(a.known, &placed{Process: p, own: newTimeline(p.anchors)})
		}
	}
	slices.SortFunc(a.known, func(a, b *placed) int { // join wants the earlier one first
		return cmp.Or(cmp.Compare(a.own.first(), b.own.first()), cmp.Compare(a.Instance, b.Instance))
	})
	for _, p := range a.known {
		a.join(p)
	}
	clocks := map[*timeline]decode.Clock{}
	for _, p := range a.known {
		c, ok := clocks[p.shared]
		if !ok {
			c = p.shared.clock()
			clocks[p.shared] = c
		}
		p.clock, p.placed = c, p.describe(c)
	}
	a.placeForeign()
	a.place()
	return a
}

// completeAnchors reads the anchor blocks of the chunks that need it: those
// that are open, for no header says what their last anchor was, and those in
// which the real time stepped, to learn when.
func (p *Process) completeAnchors() {
	jumps := p.jumps()
	images := slices.DeleteFunc(slices.Clone(p.Chunks), func(im *chunks.Image) bool {
		h := &im.Header
		stepped := slices.ContainsFunc(jumps, func(j jump) bool { return j.from < h.Close.Monotonic && j.to > h.Open.Monotonic })
		return im.Closed && !stepped
	})
	if len(images) > 0 {
		blocks, last := decode.ReadAnchors(p.Process, images)
		p.anchors = decode.MergeAnchors(p.anchors, blocks)
		p.read = last
	}
}

// jump of the real time, between two monotonic times.
type jump struct{ from, to uint64 }

// jumps are where two neighbouring anchors of p disagree; the first maxJumps
// will do.
func (p *Process) jumps() (jumps []jump) {
	for i := 1; i < len(p.anchors) && len(jumps) < maxJumps; i++ {
		if a, b := p.anchors[i-1], p.anchors[i]; !within(a.Offset(), b.Offset(), maxSkew) {
			jumps = append(jumps, jump{a.Monotonic, b.Monotonic})
		}
	}
	return jumps
}

// maxJumps is how many jumps of a process are looked at closer. No clock is set
// that often; a file may say so.
const maxJumps = 100

// join finds the timeline that p shares.
func (a *aligner) join(p *placed) {
	id := decode.BootID(p.Process.Process)
	p.boot = a.boots[id]
	if p.boot == nil || id == "" { // two of unknown boots share nothing
		p.boot = new(boot)
		a.boots[id] = p.boot
	}
	for _, t := range p.boot.lines {
		last := t.last()
		if t.join(p.own) {
			p.shared, p.later = t, p.own.first() > last
			return
		}
	}
	p.shared = new(timeline)
	p.shared.stretches = slices.Clone(p.own.stretches)
	p.boot.lines = append(p.boot.lines, p.shared)
}
