package gotrace

import (
	"cmp"
	"maps"
	"slices"

	"gprof/stream"
)

// goroutine is the state of a live goroutine.
type goroutine struct {
	id        int64
	lane      *lane // nil: unknown
	state     state
	accounted int64          // time up to which its state was accounted
	stack     stream.StackID // where it last stopped running, or began
	wait      *waitStack     // its stack, and what it waits for; nil if it runs, or did so far
	reason    string         // why it waits, in Go's words; "" if it doesn't
	run       place          // where it began to run
	call      *interval      // its current system call
	regions   []interval
	assist    *interval // of the garbage collector, if it helps
}

// interval is something that began.
type interval struct {
	place
	begun  bool // its beginning was seen
	name   string
	task   uint64
	parent uint64
}

// goroutine takes a state transition of a goroutine.
func (s *Source) goroutine(ev *event) {
	g := s.live.at(ev.id)
	if ev.old == unknownState && s.settled && (g == nil || g.state != ev.new) {
		s.leaps++ // a generation states it as it is
	}
	if g == nil {
		g = s.newGoroutine(ev)
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
	s.tellWaker(g, ev)
	s.leave(g, ev)
	s.enter(g, ev)
}

// newGoroutine adds a goroutine when it is first seen. One that was not created in the trace has
// been in its state from the beginning, since a transition would have been recorded.
func (s *Source) newGoroutine(ev *event) *goroutine {
	g := &goroutine{id: ev.id, state: notThere, accounted: ev.time}
	s.live.set(ev.id, g)
	if ev.old == notThere {
		return g
	}
	g.accounted = s.began
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

// account adds up the time of g in its state until now; ended is 1 if it leaves it.
func (s *Source) account(g *goroutine, now, ended int64) {
	if g.state == notThere || g.state == unknownState {
		g.accounted = now
		return
	}
	l := s.tracks.laneOf(g)
	ns := max(now-g.accounted, 0)
	s.tellState(g, g.accounted, now)
	g.accounted = now
	l.tally.time[g.state] += ns
	if g.state != running {
		s.waits.add(l, g.wait, now, ns, ended)
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

// ran adds a time on a processor, with tracks for those.
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

// called adds a system call.
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
		s.live.remove(ev.id)
		return
	}
	g.begin(s, ev, ev.time)
}

func (g *goroutine) begin(s *Source, ev *event, at int64) {
	g.reason = ""
	switch g.state {
	case running:
		if s.tracks.by != ByRoot { // else nothing is told of it
			g.run = s.place(ev, ev.id, g)
			g.run.time, g.run.at = at, s.clock.at(at)
		}
	case runnable:
		g.wait = s.why(g.stack, runnableReason)
	case waiting:
		g.wait, g.reason = s.why(g.stack, ev.name), ev.name
	case calling:
		p := s.place(ev, ev.id, g)
		p.stack = g.stack
		g.call, g.wait = &interval{place: p, begun: true}, s.why(g.stack, callReason)
	}
}

// place is the place of an event on the goroutine with that id; g is nil if there is none.
func (s *Source) place(ev *event, id int64, g *goroutine) place {
	p := place{time: ev.time, at: s.clock.at(ev.time), who: stream.Owner{Thread: max(ev.thread, 0), Goroutine: max(id, 0)}}
	var l *lane
	if g != nil {
		l = s.tracks.laneOf(g)
	}
	p.track = s.tracks.of(ev, l)
	p.stack = s.stacks.intern(ev.context).id
	return p
}

// here is the place of an event on the running goroutine.
func (s *Source) here(ev *event) (place, *goroutine) {
	g := s.current(ev)
	return s.place(ev, ev.goroutine, g), g
}

// current is the running goroutine. It learns its track from the event's stack.
func (s *Source) current(ev *event) *goroutine {
	g := s.live.at(ev.goroutine)
	if g != nil && g.lane == nil {
		if info := s.stacks.intern(ev.context); info.root != "" {
			g.lane = s.tracks.lane(info.root)
		}
	}
	return g
}

// abandon adds what a goroutine began and never ended.
func (s *Source) abandon(g *goroutine) {
	for i := range g.regions {
		s.regionOpen(&g.regions[i])
	}
	if g.call != nil {
		s.mark(callMarker, &g.call.place, stream.PhaseStart, 0, argument{})
	}
	g.regions, g.call = nil, nil
}

// generation ends a generation: what goes on is accounted, so that no row stands for much more than
// a second.
func (s *Source) generation(now int64) {
	for _, id := range slices.Sorted(maps.Keys(s.live.all)) {
		s.account(s.live.all[id], now, 0)
	}
	s.tellWaits()
	s.tellGroups(now)
	s.forgetStops()
}

// tellGroups adds a marker for each root function about its goroutines in the last generation.
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

// end adds all that has begun and not ended, at the end of the trace, or before a gap.
func (s *Source) end(now int64) {
	for _, id := range slices.Sorted(maps.Keys(s.live.all)) {
		s.account(s.live.all[id], now, 1)
		s.abandon(s.live.all[id])
	}
	s.tellWaits()
	s.tellGroups(now)
	for _, k := range slices.SortedFunc(maps.Keys(s.ranges), rangeKey.compare) {
		s.rangeOpen(k, s.ranges[k])
	}
	for _, id := range slices.Sorted(maps.Keys(s.tasks)) {
		s.taskOpen(s.tasks[id])
	}
	s.counts.end(s)
	s.stops = nil
	s.live.clear()
	clear(s.ranges)
	clear(s.tasks)
}

func (k rangeKey) compare(o rangeKey) int {
	return cmp.Or(cmp.Compare(k.scope, o.scope), cmp.Compare(k.id, o.id), cmp.Compare(k.name, o.name))
}
