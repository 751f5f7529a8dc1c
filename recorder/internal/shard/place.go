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

// Place records a marker that was from begin to end.
//
//go:noinline
func (h Handle) Place(phase rawformat.Phase, begin, end rt.Time, a, b Arg, more *[2]Arg) {
	m := marker{args: [4]Arg{a, b}}
	if more != nil {
		m.args[2], m.args[3] = more[0], more[1]
	}
	h.place(phase, begin, end, &m)
}

// PlaceN is Place for an event with any number of fields.
//
//go:noinline
func (h Handle) PlaceN(phase rawformat.Phase, begin, end rt.Time, values []Typed) {
	if h.Event != nil {
		h.place(phase, begin, end, &marker{many: true, values: values[:min(len(values), len(h.Event.Wires))]})
	}
}

// place writes a marker by the long way. A time that is too far away and an end before its
// start can't be recorded; such a marker is counted.
//
//go:noinline
func (h Handle) place(phase rawformat.Phase, begin, end rt.Time, m *marker) {
	r := Current.Load()
	if r == nil || h.Track.IsUnwanted() || !r.has(h) {
		return
	}
	if min(begin, end) < -farthest || max(begin, end) > farthest || end < begin {
		r.Lose(rawformat.LostTime, 1, 0)
		return
	}
	m.at = place{phase: phase, begin: r.clock.At(begin)}
	m.at.end = m.at.begin
	if end != begin {
		m.at.end = r.clock.At(end)
	}
	m.d, m.kind, m.now, m.of = h.Event, rawformat.KindPlaced, r.clock.Now(), r.contextOf(h)
	if took := m.at.end - m.at.begin; phase == rawformat.PhaseInterval && h.overran(took) {
		if m.many {
			r.noteValues(h.Event, took, m.values)
		} else {
			r.noteArgs(h.Event, took, m.args[0], m.args[1], (*[2]Arg)(m.args[2:]))
		}
	}
	if h.Event.Stack && r.wantsStacks {
		r.markStack(m)
		return
	}
	r.write(m, nil)
}
