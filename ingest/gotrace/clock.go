package gotrace

import "gprof/stream"

// clock turns times of the trace into moments. Each generation reads the clocks
// anew: so what the trace's own clock drifts is never more than in a second.
// Of the real time the first reading counts, and then monotonic time goes on: so
// it doesn't matter when somebody sets the wall clock.
type clock struct {
	// place is the moment of a monotonic time; nil: by the first reading.
	place  func(mono uint64) stream.Time
	shift  stream.Time // added to all moments
	wall   int64       // from monotonic to real time
	mono   int64       // from the trace's time to monotonic
	turned bool        // wall and mono are known
}

// usable reports whether clocks can show that.
func (a Anchor) usable() bool {
	return a.Mono > 0 && a.Mono < maxTime/2 && a.Wall > 0 && a.Wall < maxTime/2 && a.Trace >= 0 && a.Trace < maxTime/2
}

// turn sets the clock by a reading, if it is one.
func (c *clock) turn(a Anchor) {
	if !a.usable() {
		return
	}
	if !c.turned {
		c.wall, c.turned = a.Wall-int64(a.Mono), true
	}
	c.mono = int64(a.Mono) - a.Trace
}

// at is the moment of a time of the trace. Before the first reading, and without
// any, that is the time itself.
func (c *clock) at(trace int64) stream.Time {
	moment := stream.Time(trace + c.mono)
	switch {
	case !c.turned:
	case c.place != nil:
		moment = c.place(uint64(max(trace+c.mono, 0)))
	default:
		moment += stream.Time(c.wall)
	}
	return min(max(moment+c.shift, 0), maxTime)
}
