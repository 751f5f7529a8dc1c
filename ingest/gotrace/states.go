package gotrace

import (
	"strings"

	"gprof/stream"
)

// Events of [Options.States].
const (
	// StateEvent is an interval in which a goroutine, the owner, was in one state: its first argument is one of the
	// States, its second why it waits, in Go's words, which stays where redaction hides labels of stacks. A state that goes on is divided at the end of a generation, so the rows of a goroutine
	// cover its time in the trace without a gap. The stack of one that waits has the reason as its innermost
	// frame, as in Waits; one that runs has none.
	StateEvent = "goroutine state"
	// WakeEvent is the moment at which another goroutine ended the wait of the owner: its argument is the
	// other's number, its stack what that one did. A wait that the network, a timer or the
	// runtime ends has none.
	WakeEvent = "goroutine wake-up"
)

// The states of a [StateEvent].
const (
	StateRunning  = "running"
	StateRunnable = "runnable"       // waits for a processor
	StateWaiting  = "waiting"        // for what its stack says
	StateCalling  = "system call"    // in one
	StateAssist   = "gc assist"      // runs, and marks or sweeps for the garbage collector
	StateStopped  = "stop the world" // could run, but the world is stopped
)

var stateNames = [numStates]string{running: StateRunning, runnable: StateRunnable, waiting: StateWaiting, calling: StateCalling}

// stop is a stop of the world, in the trace's time; to is 0 while it lasts.
type stop struct{ from, to int64 }

// collects notes where the garbage collector, or whatever stops the world, begins to hold goroutines up, or ends:
// then r is nil.
func (s *Source) collects(k rangeKey, ev *event, r *interval) {
	switch {
	case !s.states:
	case k.name == assistRange || k.name == sweepRange:
		if g := s.live.at(ev.goroutine); g != nil {
			s.account(g, ev.time, 0)
			g.assist = r
		}
	case strings.HasPrefix(k.name, stopRange) && r != nil:
		s.stops = append(s.stops, stop{from: ev.time})
	case strings.HasPrefix(k.name, stopRange) && len(s.stops) > 0:
		s.stops[len(s.stops)-1].to = ev.time
	}
}

// forgetStops forgets what stopped the world before now: all states were told up to now.
func (s *Source) forgetStops() {
	if n := len(s.stops); n > 0 && s.stops[n-1].to == 0 {
		s.stops = append(s.stops[:0], s.stops[n-1])
	} else {
		s.stops = s.stops[:0]
	}
}

// tellState adds rows of a goroutine's state between two times. Of a time in which it could have run, that in
// which the world was stopped has rows of its own.
func (s *Source) tellState(g *goroutine, from, to int64) {
	if !s.states || to <= from {
		return
	}
	first := len(s.stops)
	if g.state == runnable {
		for first > 0 && (s.stops[first-1].to == 0 || s.stops[first-1].to > from) {
			first--
		}
	}
	for _, x := range s.stops[first:] {
		begin, end := max(x.from, from), to
		if x.to != 0 {
			end = min(x.to, to)
		}
		if begin >= end {
			continue
		}
		s.tellPart(g, stateNames[g.state], from, begin)
		s.tellPart(g, StateStopped, begin, end)
		from = end
	}
	if g.state == running && g.assist != nil {
		s.tellPart(g, StateAssist, from, to)
		return
	}
	s.tellPart(g, stateNames[g.state], from, to)
}

func (s *Source) tellPart(g *goroutine, name string, from, to int64) {
	if to <= from {
		return
	}
	p := place{at: s.clock.at(from), track: s.tracks.rootTrack(s.tracks.laneOf(g)), who: stream.Owner{Goroutine: g.id}}
	switch {
	case g.state != running:
		p.stack = g.wait.stack
	case name == StateAssist:
		p.stack = g.assist.stack
	}
	s.mark(stateMarker, &p, stream.Interval, int64(s.clock.at(to)-p.at), textOf(name), textOf(g.reason))
}

// tellWaker adds a row about the goroutine that ends the wait of g.
func (s *Source) tellWaker(g *goroutine, ev *event) {
	if !s.states || g.state != waiting || ev.new != runnable || ev.goroutine == none || ev.goroutine == g.id {
		return
	}
	p := place{at: s.clock.at(ev.time), track: s.tracks.rootTrack(s.tracks.laneOf(g)), who: stream.Owner{Goroutine: g.id}, stack: s.stacks.intern(ev.context).id}
	s.mark(wakeMarker, &p, stream.Instant, 0, numberOf(uint64(ev.goroutine)))
}
