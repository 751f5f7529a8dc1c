package gotrace

import (
	"slices"

	"gprof/stream"
)

// taskBegins takes the beginning of a task. It is shown where it was begun, on
// whatever goroutines it goes on.
func (s *Source) taskBegins(ev *event) {
	p, _ := s.here(ev)
	s.tasks[ev.task] = &interval{place: p, begun: true, name: ev.name, task: ev.task, parent: ev.parent}
}

func (s *Source) taskEnds(ev *event) {
	t := s.tasks[ev.task]
	delete(s.tasks, ev.task)
	if t == nil {
		p, _ := s.here(ev)
		t = &interval{place: p, name: ev.name, task: ev.task, parent: ev.parent}
		s.markTask(t, stream.PhaseEnd, 0)
		return
	}
	s.markTask(t, stream.Interval, max(ev.time-t.time, 0))
}

// begunTask tells of a task that has not ended.
func (s *Source) begunTask(t *interval) { s.markTask(t, stream.PhaseStart, 0) }

func (s *Source) markTask(t *interval, phase stream.Phase, duration int64) {
	s.mark(taskMarker, &t.place, phase, duration, textOf(t.name), taskOf(t.task), taskOf(t.parent))
}

// regionBegins takes the beginning of a region: a part of what one goroutine
// does. One that no goroutine is in has only a beginning.
func (s *Source) regionBegins(ev *event) {
	p, g := s.here(ev)
	r := interval{place: p, begun: true, name: ev.name, task: ev.task}
	if g == nil {
		s.begunRegion(&r)
		return
	}
	g.regions = append(g.regions, r)
}

// regionEnds takes the end of a region. They are nested; what was begun inside
// and has no end of its own stays open.
func (s *Source) regionEnds(ev *event) {
	g := s.current(ev)
	at := -1
	if g != nil {
		for i, r := range slices.Backward(g.regions) {
			if r.name == ev.name && r.task == ev.task {
				at = i
				break
			}
		}
	}
	if at < 0 {
		s.markRegion(&interval{place: s.place(ev, ev.goroutine, g), name: ev.name, task: ev.task}, stream.PhaseEnd, 0)
		return
	}
	r := g.regions[at]
	g.regions = slices.Delete(g.regions, at, at+1)
	s.markRegion(&r, stream.Interval, max(ev.time-r.time, 0))
}

// begunRegion tells of a region that has not ended.
func (s *Source) begunRegion(r *interval) { s.markRegion(r, stream.PhaseStart, 0) }

func (s *Source) markRegion(r *interval, phase stream.Phase, duration int64) {
	s.mark(regionMarker, &r.place, phase, duration, textOf(r.name), taskOf(r.task))
}

func (s *Source) logged(ev *event) {
	p, _ := s.here(ev)
	s.mark(logMarker, &p, stream.Instant, 0, textOf(ev.name), textOf(ev.text), taskOf(ev.task))
}

func (s *Source) labelled(ev *event) {
	p, _ := s.here(ev)
	s.mark(labelMarker, &p, stream.Instant, 0, textOf(ev.name))
}
