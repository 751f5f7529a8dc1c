package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gprof/chunks"
	"gprof/decode"
	"gprof/stream"
)

// aligner puts processes on one time line.
type aligner struct {
	boots   map[string]*boot // by boot id
	known   []*clockProcess  // by their first anchor
	unknown []*Process       // without anchors
	foreign []*Process       // of other tools, which have clocks of their own
}

// boot is one boot of a machine with its monotonic clocks. There is one, except with time
// namespaces and machines that were copied while they ran.
type boot struct{ lines []*timeline }

// clockProcess is a process with its clock.
type clockProcess struct {
	*Process
	own    *timeline
	shared *timeline // of all processes that read the same clock
	later  bool      // no earlier process is known to have lived when it began
	boot   *boot
}

// align puts processes on one time line:
//
//  1. Processes of one boot whose readings of real time agree read the same monotonic clock: they
//     share one mapping to real time, so their order is exact.
//  2. A process that disagrees has a monotonic clock, and a mapping, of its own.
//  3. A process without any reading is placed by its start time.
//
// [aligner.note] reports what is inexact.
func align(processes []*Process) *aligner {
	a := &aligner{boots: map[string]*boot{}}
	for _, p := range processes {
		if p.foreign != nil {
			a.foreign = append(a.foreign, p)
		} else if p.completeAnchors(); len(p.anchors) == 0 {
			a.unknown = append(a.unknown, p)
		} else {
			a.known = append(a.known, &clockProcess{Process: p, own: newTimeline(p.anchors)})
		}
	}
	slices.SortFunc(a.known, func(a, b *clockProcess) int { // join wants the earlier one first
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

// completeAnchors reads the anchor blocks of chunks that need it: open ones, whose header does not
// have the last anchor, and those in which real time stepped, to learn when.
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

// jump is a jump of real time, between two monotonic times.
type jump struct{ from, to uint64 }

// jumps are where neighbouring anchors of p disagree, up to maxJumps.
func (p *Process) jumps() (jumps []jump) {
	for i := 1; i < len(p.anchors) && len(jumps) < maxJumps; i++ {
		if a, b := p.anchors[i-1], p.anchors[i]; !within(a.Offset(), b.Offset(), maxSkew) {
			jumps = append(jumps, jump{a.Monotonic, b.Monotonic})
		}
	}
	return jumps
}

// maxJumps bounds the jumps that are looked at. No clock is set that often; a hostile file may say
// so.
const maxJumps = 100

// join finds the timeline that p shares.
func (a *aligner) join(p *clockProcess) {
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

// note reports inexact clocks of processes that have not expired.
func (a *aligner) note(ledger *stream.Ledger) {
	n := clockNotes{ledger}
	boots := map[*boot]bool{}
	count := 0
	for _, p := range a.known {
		if p.expired == "" {
			n.steps(p)
			n.stranger(p)
			boots[p.boot] = true
			count++
		}
	}
	for _, p := range a.unknown {
		n.add(p, "processes", "no anchor; placed by "+p.placed.By)
	}
	for _, p := range a.foreign {
		if p.foreign.row().Clock.By == "" {
			ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonClock, What: "processes", Where: "tells no time; placed by " + p.placed.By, Count: p.profiles()})
		}
	}
	if len(boots) > 1 {
		ledger.Add(stream.Line{Reason: stream.ReasonClock, What: "processes", Count: int64(count),
			Where: fmt.Sprintf("of %d boots or machines; their order is that of the wall clocks", len(boots))})
	}
}

// clockNotes adds ledger lines about clocks.
type clockNotes struct{ ledger *stream.Ledger }

func (n clockNotes) add(p *Process, what, where string) {
	n.ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonClock, What: what, Where: where, Count: 1})
}

// stranger notes that p does not share the first monotonic clock of its boot.
func (n clockNotes) stranger(p *clockProcess) {
	main := p.boot.lines[0]
	if p.shared == main {
		return
	}
	offset, _, _ := main.known(p.shared.first())
	ahead, word := offset-p.shared.stretches[0].offset, "ahead of"
	if ahead < 0 {
		ahead, word = -ahead, "behind"
	}
	n.add(p.Process, "processes", fmt.Sprintf("monotonic clock is %v %s its boot's, as in a time namespace or a copied machine; placed by real time", span(ahead), word))
}

// steps notes where real time left the monotonic time of p.
func (n clockNotes) steps(p *clockProcess) {
	t := p.shared
	if t.steady() {
		return
	}
	var drift int64
	for i := range len(t.stretches) - 1 {
		from, to := t.stretches[i].to, t.stretches[i+1].from
		if !p.saw(from, to) {
			continue
		}
		change := t.stretches[i+1].offset - t.stretches[i].offset
		if within(change, 0, max(maxSkew, int64(t.gap(i)/maxDrift))) {
			drift += change
			continue
		}
		when := "before the start"
		if to > p.own.first() {
			when = fmt.Sprintf("%v to %v after the start", since(p, from), since(p, to))
		}
		n.add(p.Process, "steps", when+": "+t.step(i))
	}
	if !within(drift, 0, maxSkew) {
		n.add(p.Process, "drifts", fmt.Sprintf("real time drifted by %v from monotonic time; even between anchors", span(drift)))
	}
}

// saw reports whether something between two times was during the life of p, or just before it, when
// no other process is known to have lived.
func (p *clockProcess) saw(from, to uint64) bool {
	if to <= p.own.first() {
		return p.later && to == p.own.first()
	}
	return from < max(p.own.last(), p.read)
}

// step describes what happened between a stretch and the next.
func (t *timeline) step(i int) string {
	a, b := t.stretches[i], t.stretches[i+1]
	change := b.offset - a.offset
	if change < 0 {
		return fmt.Sprintf("real time was set back by %v; order is kept, so all before is up to that much earlier than it was told", span(-change))
	}
	what := "suspended, restored, or real time was set, by"
	if a.asleep >= 0 && b.asleep >= 0 {
		what = "real time was set ahead, or the machine restored, by"
		if within(b.asleep-a.asleep, change, maxSkew) {
			what = "suspended for"
		}
	}
	return fmt.Sprintf("%s %v; between these anchors times are uncertain by that", what, span(change))
}

// since is a monotonic time after the first anchor of p.
func since(p *clockProcess, monotonic uint64) time.Duration {
	return span(int64(max(monotonic, p.own.first()) - p.own.first()))
}

// span rounds a duration for people: clocks are not read finer than that.
func span(ns int64) time.Duration { return time.Duration(ns).Round(100 * time.Microsecond) }

// describe describes how c, the clock of p, places its times.
func (p *clockProcess) describe(c decode.Clock) stream.Clock {
	first, last := p.anchors[0], p.anchors[len(p.anchors)-1]
	row := stream.Clock{
		By: stream.PlacedByBoot, Boot: decode.BootID(p.Process.Process), Pieces: 1,
		Anchors: len(p.anchors), First: c.At(first.Monotonic), Last: c.At(last.Monotonic),
		Monotonic: int64(first.Monotonic), Shift: c.At(first.Monotonic) - stream.Time(first.Realtime),
	}
	if row.Boot == "" || p.shared != p.boot.lines[0] {
		row.By = stream.PlacedByHost
	}
	for _, a := range p.anchors {
		row.Uncertainty = max(row.Uncertainty, distance(int64(c.At(a.Monotonic)), a.Realtime))
	}
	t := p.shared
	if t.steady() {
		return row
	}
	for i := range len(t.stretches) - 1 { // when in between the offset changed, nobody knows
		if from, to := t.stretches[i].to, t.stretches[i+1].from; p.saw(from, to) {
			row.Pieces++
			row.Uncertainty = max(row.Uncertainty, distance(t.stretches[i].offset, t.stretches[i+1].offset))
		}
	}
	return row
}

func distance(a, b int64) int64 { return max(a, b) - min(a, b) }

// place places processes without an anchor: their first event is put where their start is known to
// be from anything else, or else at the start of the run.
func (a *aligner) place() {
	start := a.start()
	for _, p := range a.unknown {
		at, from := decode.RealTime(p.Process)
		if from == "" {
			at, from = start, stream.PlacedByRun
		}
		p.clock = decode.Fixed(at - int64(decode.FirstTime(p.Process)))
		p.placed = stream.Clock{By: from, Boot: decode.BootID(p.Process), Pieces: 1, Uncertainty: -1}
	}
}

// placeForeign is place for foreign processes. Those that have real time stay.
func (a *aligner) placeForeign() {
	start := stream.Time(a.start())
	for _, p := range a.foreign {
		if g, ok := p.foreign.file.(*goTrace); ok {
			g.share(a.known)
		}
		p.placed = p.foreign.row().Clock
		if p.placed.By == "" {
			p.foreign.place(start)
			p.placed = stream.Clock{By: stream.PlacedByRun, Pieces: 1, Uncertainty: -1}
		}
	}
}

// start is the earliest moment of any anchor, or else of any foreign file with real time; else 0.
func (a *aligner) start() int64 {
	var moments []stream.Time
	for _, p := range a.known {
		moments = append(moments, p.clock.At(p.own.first()))
	}
	if len(moments) > 0 {
		return int64(slices.Min(moments))
	}
	for _, p := range a.foreign {
		if row := p.foreign.file.Processes()[p.foreign.number]; row.Clock.By != "" {
			moments = append(moments, row.Start)
		}
	}
	if len(moments) > 0 {
		return int64(slices.Min(moments))
	}
	return 0
}
