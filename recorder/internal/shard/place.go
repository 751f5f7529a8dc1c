package shard

import (
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// place is when a marker was, if the program says so. An instant ends where it begins.
type place struct {
	phase      rawformat.Phase
	begin, end rt.Tick
}

// farthest bounds how far the times that a program gives may be from the beginning of the
// process, so that no conversion between clocks overflows: some four years.
const farthest = rt.Time(1 << 57)

// place converts times. A time that is too far away and an end before its start can't be
// recorded; such a marker is counted.
func (r *Recording) place(phase rawformat.Phase, begin, end rt.Time) (at place, ok bool) {
	if min(begin, end) < -farthest || max(begin, end) > farthest || end < begin {
		r.Lose(rawformat.LostTime, 1, 0)
		return at, false
	}
	at = place{phase: phase, begin: r.clock.At(begin)}
	at.end = at.begin
	if end != begin {
		at.end = r.clock.At(end)
	}
	return at, true
}

// Place records a marker that was from begin to end.
//
//go:noinline
func (h Handle) Place(phase rawformat.Phase, begin, end rt.Time, a, b Arg, more *[2]Arg) {
	if r := Current.Load(); r != nil && !h.Track.IsUnwanted() {
		if at, ok := r.place(phase, begin, end); ok {
			r.mark(h, rawformat.KindPlaced, r.clock.Now(), 0, a, b, more, &at)
		}
	}
}

// PlaceN is Place for an event with any number of fields.
//
//go:noinline
func (h Handle) PlaceN(phase rawformat.Phase, begin, end rt.Time, values []Typed) {
	if r := Current.Load(); r != nil && !h.Track.IsUnwanted() {
		if at, ok := r.place(phase, begin, end); ok {
			r.markN(h, rawformat.KindPlaced, r.clock.Now(), 0, values, &at)
		}
	}
}
