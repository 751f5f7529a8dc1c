package gotrace

import (
	"cmp"
	"maps"
	"slices"

	"gprof/stream"
)

// goroutine is a live one. It is all that is kept of it.
type goroutine struct {
	lane    *lane // nil: no stack has told yet
	state   state
	told    int64          // time of the trace until which its state was added up
	stack   stream.StackID // where it was when it last ceased to run, or began
	wait    stream.StackID // stack, and what it waits for
	run     place          // where it began to run
	call    *interval      // the system call that it is in
	regions []interval
}

// interval is something that began.
type interval struct {
	place
	begun  bool // its beginning was seen
	name   string
	task   uint64
	parent uint64
}

// goroutine takes a change of a goroutine's state.
func (s *Source) goroutine(ev *event) {
	g := s.live[ev.id]
	if ev.old == unknownState && s.settled && (g == nil || g.state != ev.new) {
		s.leaps++ // a generation states it as it is
	}
	if g == nil {
		g = s.meet(ev)
	}
	info := s.stacks.intern(ev.stack)
	if g.lane == nil && info.root != "" {
		g.lane = s.tracks.lane(info.root)
	}
	if info.id != 0 {
		g.stack = info.id
	}
	if ev.new == g.state {
		return // it is restated in each generation
	}
	s.account(g, ev.time, 1)
	s.leave(g, ev)
	s.enter(g, ev)
}

// meet is the first time that a goroutine is heard of. One that was not created
// in the trace has been in its state from the beginning: else its state would
// have been told before.
func (s *Source) meet(ev *event) *goroutine {
	g := &goroutine{state: notThere, told: ev.time}
	s.live[ev.id] = g
	if ev.old == notThere {
		return g
	}
	g.told = s.began
	if info := s.stacks.intern(ev.stack); info.id != 0 {
		g.stack = info.id
		if info.root != "" {
			g.lane = s.tracks.lane(info.root)
		}
	}
	s.counts.found(ev.new)
	g.state = ev.new
	g.begin(s, ev, s.began)
	g.call = nil // it began before
	return g
}

// account adds up how long g has been in its state, until now; ended is 1 if it
// leaves it.
func (s *Source) account(g *goroutine, now, ended int64) {
	if g.state == notThere || g.state == unknownState {
		g.told = now
		return
	}
	l := s.tracks.laneOf(g)
	ns := max(now-g.told, 0)
	g.told = now
	l.tally.time[g.state] += ns
	if g.state != running {
		s.waits.add(waitKey{l, g.wait}, now, ns, ended)
	}
}

// leave ends the state of g.
func (s *Source) leave(g *goroutine, ev *event) {
	switch g.state {
	case running:
		s.ran(g, ev)
	case calling:
		s.called(g, ev)
	case notThere:
		s.tracks.laneOf(g).tally.created++
	}
	s.counts.change(g.state, ev.new)
}

// ran tells of a time on a processor, where tracks are about that.
func (s *Source) ran(g *goroutine, ev *event) {
	if g.run.track == 0 {
		return
	}
	until, root := ev.name, ""
	switch {
	case ev.new == notThere:
		until = "its end"
	case ev.new == calling:
		until = callReason
	}
	if g.lane != nil {
		root = g.lane.root
	}
	s.mark(runMarker, &g.run, stream.Interval, max(ev.time-g.run.time, 0), textOf(root), textOf(until))
}

// called tells of a system call.
func (s *Source) called(g *goroutine, ev *event) {
	blocked := flag(ev.new == runnable)
	if c := g.call; c != nil {
		s.mark(callMarker, &c.place, stream.Interval, max(ev.time-c.time, 0), blocked)
	} else {
		p := s.place(ev, ev.id, g)
		p.stack = g.stack
		s.mark(callMarker, &p, stream.PhaseEnd, 0, blocked)
	}
	g.call = nil
}

// enter begins the new state of g.
func (s *Source) enter(g *goroutine, ev *event) {
	g.state = ev.new
	if ev.new == notThere {
		s.tracks.laneOf(g).tally.ended++
		s.abandon(g)
		delete(s.live, ev.id)
		return
	}
	g.begin(s, ev, ev.time)
}

// begin begins the state of g at a time.
func (g *goroutine) begin(s *Source, ev *event, at int64) {
	switch g.state {
	case running:
		if s.tracks.by != ByRoot { // else nothing is told of it
			g.run = s.place(ev, ev.id, g)
			g.run.time, g.run.at = at, s.clock.at(at)
		}
	case runnable:
		g.wait = s.why(g.stack, runnableReason)
	case waiting:
		g.wait = s.why(g.stack, ev.name)
	case calling:
		p := s.place(ev, ev.id, g)
		p.stack = g.stack
		g.call, g.wait = &interval{place: p, begun: true}, s.why(g.stack, callReason)
	}
}

// place is that of an event which is of a goroutine with that id; g is nil if it
// is of none.
func (s *Source) place(ev *event, id int64, g *goroutine) place {
	p := place{time: ev.time, at: s.clock.at(ev.time), who: stream.Who{Thread: max(ev.thread, 0), Goroutine: max(id, 0)}}
	var l *lane
	if g != nil {
		l = s.tracks.laneOf(g)
	}
	p.track = s.tracks.of(ev, l)
	p.stack = s.stacks.intern(ev.context).id
	return p
}

// here is the place of an event on the goroutine that runs.
func (s *Source) here(ev *event) (place, *goroutine) {
	g := s.current(ev)
	return s.place(ev, ev.goroutine, g), g
}

// current is the goroutine that runs. What the stack of an event tells of one of
// which nothing was known is kept.
func (s *Source) current(ev *event) *goroutine {
	g := s.live[ev.goroutine]
	if g != nil && g.lane == nil {
		if info := s.stacks.intern(ev.context); info.root != "" {
			g.lane = s.tracks.lane(info.root)
		}
	}
	return g
}

// abandon tells of what a goroutine has begun and never ended.
func (s *Source) abandon(g *goroutine) {
	for i := range g.regions {
		s.begunRegion(&g.regions[i])
	}
	if g.call != nil {
		s.mark(callMarker, &g.call.place, stream.PhaseStart, 0, argument{})
	}
	g.regions, g.call = nil, nil
}

// generation ends a generation: what lasts is added up, so that no row stands
// for much more than a second.
func (s *Source) generation(now int64) {
	for _, id := range slices.Sorted(maps.Keys(s.live)) {
		s.account(s.live[id], now, 0)
	}
	s.tellWaits()
	s.tellGroups(now)
}

// tellGroups tells what became of the goroutines of each root function since the
// last generation.
func (s *Source) tellGroups(now int64) {
	if s.tracks.by == ByRoot {
		for _, l := range s.tracks.order {
			s.tellGroup(l, now)
		}
	}
}

func (s *Source) tellGroup(l *lane, now int64) {
	y := &l.tally
	if *y == (tally{}) {
		return
	}
	p := place{at: s.clock.at(s.began), track: s.tracks.rootTrack(l)}
	s.mark(groupMarker, &p, stream.Interval, max(now-s.began, 0), numberOf(y.created), numberOf(y.ended),
		durationOf(y.time[running]), durationOf(y.time[runnable]), durationOf(y.time[waiting]), durationOf(y.time[calling]))
	*y = tally{}
}

// end tells of all that has begun and not ended, at the end of the trace, or
// where a part of it is lost.
func (s *Source) end(now int64) {
	for _, id := range slices.Sorted(maps.Keys(s.live)) {
		s.account(s.live[id], now, 1)
		s.abandon(s.live[id])
	}
	s.tellWaits()
	s.tellGroups(now)
	for _, k := range slices.SortedFunc(maps.Keys(s.ranges), rangeKey.compare) {
		s.begunRange(k, s.ranges[k])
	}
	for _, id := range slices.Sorted(maps.Keys(s.tasks)) {
		s.begunTask(s.tasks[id])
	}
	s.counts.end(s)
	clear(s.live)
	clear(s.ranges)
	clear(s.tasks)
}

func (k rangeKey) compare(o rangeKey) int {
	return cmp.Or(cmp.Compare(k.scope, o.scope), cmp.Compare(k.id, o.id), cmp.Compare(k.name, o.name))
}
