package ingest

import (
	"fmt"
	"slices"
	"time"

	"gprof/decode"
	"gprof/stream"
)

// expiry decides which processes are stale. Looking at a parent one sees the time that its ring
// still holds; children that ended before are dropped. The rules:
//
//  1. A child that ended cleanly has a position: its parent's index at that time. It has expired if
//     that is before the parent's range start, strictly: then the parent holds nothing from that
//     time.
//  2. The exit record has the position. Otherwise the child's last known time is looked up in the
//     anchors of the parent's chunks. If that fails it has not expired.
//  3. A process that was killed, crashed, exited with a status other than 0, or left no exit
//     record, stays: it is what people look for. ExpireCrashed puts those under the rules.
//  4. A parent that is not among the inputs expires nothing. Children of an expired parent are
//     judged by the nearest ancestor that has not expired, and those that stay become its children.
//  5. An idle parent never gives up its range. ExpireAfter expires children by age, whatever their
//     parent holds.
//
// Each process is judged by what the inputs say, in whatever order.
type expiry struct {
	o      Options
	latest stream.Time // of the run
}

func newExpiry(f *Found) *expiry {
	byInstance := make(map[uint64]*Process, len(f.Processes))
	for _, p := range f.Processes {
		byInstance[p.Instance] = p
	}
	named := make(map[*Process]*Process, len(f.Processes))
	for _, p := range f.Processes {
		if p.foreign == nil {
			named[p] = byInstance[decode.Parent(p.Process)]
		} else {
			named[p] = byInstance[p.foreign.parent()]
		}
	}
	for _, p := range f.Processes {
		if !loops(named, p) {
			p.parent = named[p]
		}
	}
	return &expiry{o: f.options}
}

// loops reports whether p is an ancestor of itself, which no recorder writes. Then it has no
// parent.
func loops(parents map[*Process]*Process, p *Process) bool {
	a := parents[p]
	for range len(parents) {
		if a == nil || a == p {
			break
		}
		a = parents[a]
	}
	return a == p
}

// holder is the nearest ancestor of p that has not expired, nil for none.
func (p *Process) holder() *Process {
	a := p.parent
	for a != nil && a.expired != "" {
		a = a.parent
	}
	return a
}

// may reports whether p can expire.
func (e *expiry) may(p *Process) bool {
	return !e.o.KeepExpired && !p.Alive && (e.o.ExpireCrashed || decode.Clean(p.Process)) && p.parent != nil
}

// byIndex marks the processes that have expired by their exit record, without reading chunks.
func (e *expiry) byIndex(all []*Process) {
	for _, p := range all {
		if index, ok := p.position(); ok && e.may(p) && index < p.parent.Held {
			p.expired = fmt.Sprintf("ended at index %d of %s, which holds what is from %d on", index, p.parent.Name(), p.parent.Held)
		}
	}
}

// position is the index of its parent in p's exit record.
func (p *Process) position() (index uint64, ok bool) {
	x := p.Exit
	if x == nil || p.parent == nil || x.ParentIndex == 0 || x.Parent != 0 && x.Parent != p.parent.Instance {
		return 0, false
	}
	return x.ParentIndex, true
}

// byTime marks the processes that have expired by time, once clocks are aligned.
func (e *expiry) byTime(all []*Process) {
	e.latest = latest(all)
	judged := make(map[*Process]bool, len(all))
	for _, p := range all {
		e.judge(p, judged)
	}
}

// latest is the last moment of a run.
func latest(all []*Process) (at stream.Time) {
	for _, p := range all {
		if end, ok := p.end(); ok {
			at = max(at, end)
		}
	}
	return at
}

// judge judges p after its ancestors.
func (e *expiry) judge(p *Process, judged map[*Process]bool) {
	if judged[p] {
		return
	}
	judged[p] = true
	if p.parent != nil {
		e.judge(p.parent, judged)
	}
	end, ok := p.end()
	if p.expired != "" || !ok || !e.may(p) {
		return
	}
	holder := p.holder()
	if _, told := p.position(); holder != nil && !(told && holder == p.parent) {
		if start, ok := holder.rangeBegan(); ok && end < start {
			p.expired = fmt.Sprintf("ended %v before what %s still holds", ago(start-end), holder.Name())
		}
	}
	if age := e.latest - end; e.o.ExpireAfter > 0 && age > stream.Time(e.o.ExpireAfter) {
		p.expired = fmt.Sprintf("ended %v before the last event, more than %v", ago(age), e.o.ExpireAfter)
	}
}

func ago(t stream.Time) time.Duration { return span(int64(t)) }

// end is the last moment at which p is known to have lived: its exit, latest anchor or block. It is
// not ok if its clock is not placed.
func (p *Process) end() (at stream.Time, ok bool) {
	if p.expired != "" || len(p.anchors) == 0 {
		return 0, false
	}
	return p.clock.At(max(p.read, p.anchors[len(p.anchors)-1].Monotonic, decode.ExitTime(p.Process))), true
}

// rangeBegan is when the first chunk that p holds was opened. It is not ok if p has discarded
// nothing, or if that chunk is missing.
func (p *Process) rangeBegan() (at stream.Time, ok bool) {
	if p.Held <= 1 || len(p.anchors) == 0 {
		return 0, false
	}
	for _, im := range slices.Concat(p.Chunks, p.LeftOut) {
		h := &im.Header
		if h.RangeStart <= p.Held && p.Held < im.End() && h.Open.Monotonic != 0 {
			return p.clock.At(h.Open.Monotonic), true
		}
	}
	return 0, false
}

// stay returns the processes that have not expired; the others become ledger lines.
func (e *expiry) stay(all []*Process, ledger *stream.Ledger) (kept []*Process) {
	for _, p := range all {
		if p.expired == "" {
			kept = append(kept, p)
			continue
		}
		ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonExpired, What: "processes", Where: p.expired, Count: 1, Bytes: p.Bytes()})
	}
	return kept
}
