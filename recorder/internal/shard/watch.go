package shard

import (
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// overran reports whether an interval took longer than what the watch of its event wants to
// know. It is all that a marker pays for that.
func (h *Handle) overran(took rt.Tick) bool {
	return h.Event != nil && int64(took) > h.Event.Watch.Limit.Load()
}

// noteArgs counts such an interval.
//
//go:noinline
func (r *Recording) noteArgs(d *registry.Definition, took rt.Tick, a, b Arg, more *[2]Arg) {
	flow := uint64(0)
	switch i := d.FlowField(); {
	case i == 0:
		flow = a.bits
	case i == 1:
		flow = b.bits
	case i > 1 && more != nil:
		flow = more[i&1].bits
	}
	d.Watch.Note(r.clock.Duration(took), flow)
}

// noteSpan is noteArgs for the arguments of a span.
//
//go:noinline
func (r *Recording) noteSpan(s *Span, took rt.Tick) {
	r.noteArgs(s.h.Event, took, s.args[0], s.args[1], (*[2]Arg)(s.args[2:]))
}

// noteValues is noteArgs for an event with any number of fields.
//
//go:noinline
func (r *Recording) noteValues(d *registry.Definition, took rt.Tick, values []Typed) {
	flow := uint64(0)
	if i := d.FlowField(); i >= 0 && i < len(values) && values[i].wire == rawformat.WireUint {
		flow = values[i].arg.bits
	}
	d.Watch.Note(r.clock.Duration(took), flow)
}

// NoteLog counts a log record: 0 debug, 1 info, 2 warning, 3 error.
func (r *Recording) NoteLog(level int) { r.logged[level].Add(1) }

// Logged is how many records of that level and above there were.
func (r *Recording) Logged(level int) (n uint64) {
	for i := level; i < len(r.logged); i++ {
		n += r.logged[i].Load()
	}
	return n
}
