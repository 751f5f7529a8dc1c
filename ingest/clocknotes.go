package ingest

import (
	"fmt"
	"time"

	"gprof/stream"
)

// note says what is not exact about the clocks of those that have not expired.
func (a *aligner) note(ledger *stream.Ledger) {
	n := notes{ledger}
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
			n.add(p, "processes", "tells no time; placed by "+p.placed.By)
		}
	}
	if len(boots) > 1 {
		ledger.Add(stream.Line{Reason: stream.ReasonClock, What: "processes", Count: int64(count),
			Where: fmt.Sprintf("of %d boots or machines; their order is that of the wall clocks", len(boots))})
	}
}

// notes are lines of the ledger about clocks.
type notes struct{ ledger *stream.Ledger }

func (n notes) add(p *Process, what, where string) {
	n.ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonClock, What: what, Where: where, Count: 1})
}

// stranger says that p has not the monotonic clock that its boot began with.
func (n notes) stranger(p *placed) {
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

// steps says where the real time that p saw left its monotonic time.
func (n notes) steps(p *placed) {
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

// saw reports whether what happened between two times was in the life of p, or
// just before it, when nobody else is known to have lived.
func (p *placed) saw(from, to uint64) bool {
	if to <= p.own.first() {
		return p.later && to == p.own.first()
	}
	return from < max(p.own.last(), p.read)
}

// step says what happened between a stretch and the next.
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

// since is a monotonic time from the first anchor of p on.
func since(p *placed, monotonic uint64) time.Duration {
	return span(int64(max(monotonic, p.own.first()) - p.own.first()))
}

// span is a difference for people: finer than a tenth of a millisecond no two
// clocks are read.
func span(ns int64) time.Duration { return time.Duration(ns).Round(100 * time.Microsecond) }
