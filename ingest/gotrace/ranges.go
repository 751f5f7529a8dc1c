package gotrace

import (
	"strings"

	"gprof/stream"
)

// Names of ranges.
const (
	markRange   = "GC concurrent mark phase"
	sweepRange  = "GC incremental sweep"
	assistRange = "GC mark assist"
	stopRange   = "stop-the-world ("
)

// rangeKey names a range: there is one of each name and scope at a time.
type rangeKey struct {
	scope scope
	id    int64
	name  string
}

// rangeBegins takes the beginning of a range, or of one that began before the
// trace.
func (s *Source) rangeBegins(ev *event) {
	k := rangeKey{ev.scope, ev.id, ev.name}
	if s.ranges[k] != nil {
		return // it is restated in each generation
	}
	s.ranges[k] = &interval{place: s.rangePlace(ev), begun: ev.kind == kindRangeBegin}
}

func (s *Source) rangeEnds(ev *event) {
	k := rangeKey{ev.scope, ev.id, ev.name}
	r := s.ranges[k]
	delete(s.ranges, k)
	if r == nil || !r.begun {
		p := s.rangePlace(ev)
		s.markRange(k, &p, stream.PhaseEnd, 0, ev.values)
		return
	}
	s.markRange(k, &r.place, stream.Interval, max(ev.time-r.time, 0), ev.values)
}

// begunRange tells of a range that has not ended.
func (s *Source) begunRange(k rangeKey, r *interval) {
	if r.begun {
		s.markRange(k, &r.place, stream.PhaseStart, 0, [2]uint64{})
	}
}

// rangePlace is where a range is shown: what stops all goroutines is on the main
// track.
func (s *Source) rangePlace(ev *event) place {
	p, _ := s.here(ev)
	if ev.scope == wholeProcess || strings.HasPrefix(ev.name, stopRange) {
		p.track = s.tracks.main
	}
	return p
}

func (s *Source) markRange(k rangeKey, p *place, phase stream.Phase, duration int64, values [2]uint64) {
	reason, stops := strings.CutPrefix(k.name, stopRange)
	switch {
	case stops:
		s.mark(stopMarker, p, phase, duration, textOf(strings.TrimSuffix(reason, ")")))
	case k.name == markRange:
		s.mark(collectMarker, p, phase, duration)
	case k.name == sweepRange:
		s.mark(sweepMarker, p, phase, duration, numberOf(values[0]), numberOf(values[1]))
	case k.name == assistRange:
		s.mark(assistMarker, p, phase, duration)
	default:
		s.mark(rangeMarker, p, phase, duration, textOf(k.name))
	}
}
