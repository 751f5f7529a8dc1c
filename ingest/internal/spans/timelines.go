package spans

import (
	"cmp"
	"slices"
	"unsafe"

	"gprof/stream"
)

// timelines say which span each goroutine of a process worked for at any time.
type timelines struct {
	intervals []named // of the starts that announced them, sorted
	turns     []turn  // sorted by goroutine and time
}

// named is a span as a marker of an event.
type named struct {
	event stream.EventID
	of    stream.Span
}

// turn is when a goroutine begins to work for another span, the zero one for none.
type turn struct {
	goroutine int64
	at        stream.Time
	of        stream.Span
}

func (a named) compare(b named) int {
	return cmp.Or(cmp.Compare(a.event, b.event), compareSpans(a.of, b.of))
}

func compareSpans(a, b stream.Span) int {
	return cmp.Or(cmp.Compare(a.Trace[0], b.Trace[0]), cmp.Compare(a.Trace[1], b.Trace[1]), cmp.Compare(a.ID, b.ID))
}

// newTimelines makes the timelines of the spans of a process, whose order it changes.
func newTimelines(all []span) (t timelines) {
	all = t.pair(all)
	slices.SortFunc(all, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.goroutine, b.goroutine), cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), compareSpans(a.of, b.of))
	})
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].goroutine == all[from].goroutine {
			to++
		}
		if all[from].goroutine != 0 {
			t.sweep(all[from:to])
		}
		from = to
	}
	return t
}

// pair puts together what several markers say of one span, in the memory of all, and notes which
// starts announced an interval.
func (t *timelines) pair(all []span) (spans []span) {
	of := func(s *span) named { return named{s.event, s.of} }
	slices.SortFunc(all, func(a, b span) int {
		return cmp.Or(of(&a).compare(of(&b)), cmp.Compare(a.phase, b.phase), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.goroutine, b.goroutine))
	})
	spans = all[:0]
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && of(&all[to]) == of(&all[from]) {
			to++
		}
		// Intervals without an id of their own may be of any number of spans.
		if group := all[from:to]; group[0].of.ID == 0 || len(group) == 1 {
			spans = append(spans, group...)
		} else {
			spans = append(spans, t.unite(group))
		}
		from = to
	}
	return slices.DeleteFunc(spans, func(s span) bool { return s.phase == stream.PhaseEnd || s.to <= s.from })
}

// unite is the span that all of a group, in the order of their phases, speak of.
func (t *timelines) unite(group []span) span {
	s := group[0]
	for i := range group {
		switch x := &group[i]; {
		case x.phase == stream.PhaseStart && s.phase == stream.Interval:
			t.intervals = append(t.intervals, named{s.event, s.of})
			s.goroutine = x.goroutine
			return s
		case x.phase == stream.PhaseEnd && s.phase == stream.PhaseStart && x.to >= s.from:
			s.to = x.to
			return s
		}
	}
	return s
}

// sweep adds the turns of the spans of one goroutine, which last some time and are sorted by their
// beginning.
func (t *timelines) sweep(spans []span) {
	ends := make([]int32, len(spans)) // spans by their end
	for i := range ends {
		ends[i] = int32(i)
	}
	slices.SortFunc(ends, func(a, b int32) int { return cmp.Or(cmp.Compare(spans[a].to, spans[b].to), cmp.Compare(b, a)) })
	var open []int32 // begun, the last one on top; those below may have ended
	ended := make([]bool, len(spans))
	turn := func(at stream.Time) {
		for len(open) > 0 && ended[open[len(open)-1]] {
			open = open[:len(open)-1]
		}
		var of stream.Span
		if len(open) > 0 {
			of = spans[open[len(open)-1]].of
		}
		t.turn(spans[0].goroutine, at, of)
	}
	for next := range spans {
		for len(ends) > 0 && spans[ends[0]].to <= spans[next].from {
			ended[ends[0]] = true
			turn(spans[ends[0]].to)
			ends = ends[1:]
		}
		open = append(open, int32(next))
		turn(spans[next].from)
	}
	for _, i := range ends {
		ended[i] = true
		turn(spans[i].to)
	}
}

// turn adds a turn, which replaces one at the same time.
func (t *timelines) turn(goroutine int64, at stream.Time, of stream.Span) {
	n := len(t.turns)
	if n > 0 && t.turns[n-1].goroutine == goroutine {
		if t.turns[n-1].at == at {
			t.turns[n-1].of = of
			return
		}
		if t.turns[n-1].of == of {
			return
		}
	}
	t.turns = append(t.turns, turn{goroutine, at, of})
}

// at is the span that a goroutine works for at that time, the zero one if for none.
func (t *timelines) at(goroutine int64, at stream.Time) stream.Span {
	i, found := slices.BinarySearchFunc(t.turns, turn{goroutine: goroutine, at: at}, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.goroutine, b.goroutine), cmp.Compare(a.at, b.at))
	})
	if !found {
		i--
	}
	if i < 0 || t.turns[i].goroutine != goroutine {
		return stream.Span{}
	}
	return t.turns[i].of
}

// isAnnounced reports whether an interval says all that a start of the event says.
func (t *timelines) isAnnounced(event stream.EventID, s stream.Span) bool {
	_, found := slices.BinarySearchFunc(t.intervals, named{event, s}, named.compare)
	return found
}

// bytes is the memory of the timelines.
func (t *timelines) bytes() int64 {
	return int64(cap(t.intervals))*int64(unsafe.Sizeof(named{})) + int64(cap(t.turns))*int64(unsafe.Sizeof(turn{}))
}
