package slow

import (
	"cmp"
	"math"
	"slices"

	"gprof/stream"
)

// sweep goes along the time of one goroutine after the other, with what it does and the intervals that it has.
// It holds only what goes on.
type sweep struct {
	tables *stream.Tables
	causes causes
	groups [numGroups]*tally
	period map[stream.ProcessID]int64 // ns between looks at goroutines that wait

	process   stream.ProcessID
	goroutine int64
	open      []*active
	states    []state // that reach into what follows, and the last one
	longest   []Slow
	rows      *rows
}

// The groups of intervals.
const (
	slow = iota
	rest
	open
	numGroups
)

// active is an interval that goes on.
type active struct {
	record
	exact, estimated [numParts]int64
	errors           [numParts]float64
	causes           map[int32]*amount
}

// amount is the time of a cause in an interval.
type amount struct{ exact, estimated int64 }

// state is a state of the goroutine.
type state struct {
	from, to stream.Time
	since    stream.Time // when it began: a long one is several
	cause    int32
}

// take takes the next record.
func (s *sweep) take(r record) {
	if r.process != s.process || r.goroutine != s.goroutine {
		s.expire(math.MaxInt64)
		if r.process != s.process {
			s.causes.begin(s.tables.Process(r.process).Module)
		}
		s.process, s.goroutine = r.process, r.goroutine
	}
	if r.kind == aWake {
		s.woken(&r)
		return
	}
	if r.kind == aState {
		s.began(&r)
		return
	}
	s.expire(r.from)
	switch r.kind {
	case anInterval:
		a := &active{record: r, causes: map[int32]*amount{}}
		for _, x := range s.states {
			s.exact(a, x)
		}
		s.open = append(s.open, a)
	case aSample:
		s.sampled(&r)
	case aWait:
		s.seenWaiting(&r)
	}
}

// began adds a state.
func (s *sweep) began(r *record) {
	x := state{r.from, r.to, r.from, s.causes.of(r.value, r.stack)}
	if n := len(s.states); n > 0 && s.states[n-1].to == x.from && s.states[n-1].cause == x.cause {
		x.since = s.states[n-1].since
	}
	s.expire(r.from)
	for _, a := range s.open {
		s.exact(a, x)
	}
	s.states = append(s.states, x)
}

// expire ends what has ended by a time.
func (s *sweep) expire(at stream.Time) {
	s.states = slices.DeleteFunc(s.states, func(x state) bool { return x.to <= at })
	s.open = slices.DeleteFunc(s.open, func(a *active) bool {
		if a.to > at {
			return false
		}
		s.finish(a)
		return true
	})
}

// exact adds the time that an interval and a state share.
func (s *sweep) exact(a *active, x state) {
	if ns := int64(min(a.to, x.to) - max(a.from, x.from)); ns > 0 && s.causes.all[x.cause].part != Unknown {
		a.exact[s.causes.all[x.cause].part] += ns
		if s.causes.all[x.cause].part != CPU { // samples tell where
			a.cause(x.cause).exact += ns
		}
	}
}

func (a *active) cause(n int32) *amount {
	if a.causes[n] == nil {
		a.causes[n] = &amount{}
	}
	return a.causes[n]
}

// covering is the state that tells what the goroutine did at a moment, nil if none does.
func (s *sweep) covering(at stream.Time) *state {
	for i := range s.states {
		if x := &s.states[i]; x.from <= at && at < x.to {
			return x
		}
	}
	return nil
}

// sampled adds a CPU sample. It tells where time went even where a state tells how much.
func (s *sweep) sampled(r *record) {
	c, covered := s.causes.of(running, r.stack), s.covering(r.from)
	if covered != nil && s.causes.all[covered.cause].part != CPU {
		return // its own place is known
	}
	for _, a := range s.open {
		a.cause(c).estimated += r.value
		if covered == nil {
			a.estimate(CPU, r.value, float64(r.value)*float64(r.value))
		}
	}
}

func (a *active) estimate(part int, ns int64, variance float64) {
	a.estimated[part] += ns
	a.errors[part] += variance
}

// seenWaiting adds those looks at a wait that are in an interval.
func (s *sweep) seenWaiting(r *record) {
	if s.covering(r.from) != nil {
		return
	}
	c, period := s.causes.of(waiting, r.stack), max(s.period[r.process], 1)
	if s.causes.all[c].part == Unknown {
		return
	}
	for _, a := range s.open {
		looks := min((r.value+period/2)/period, int64(r.from-a.from)/period+1)
		a.estimate(s.causes.all[c].part, looks*period, float64(period)*float64(period))
		a.cause(c).estimated += looks * period
	}
}

// woken notes who ended the wait before.
func (s *sweep) woken(r *record) {
	if len(s.states) == 0 || s.states[len(s.states)-1].to != r.from {
		return
	}
	wait := s.states[len(s.states)-1]
	by := s.causes.of(running, r.stack)
	for _, a := range s.open {
		ns := int64(min(a.to, wait.to) - max(a.from, wait.since))
		if ns <= 0 {
			continue
		}
		g := s.groups[a.value]
		k := wakerKey{wait.cause, by}
		if g.wakers[k] == nil {
			g.wakers[k] = &Waker{}
		}
		g.wakers[k].Time += ns
		g.wakers[k].Count++
	}
}

// ownerless adds an interval whose goroutine is unknown, so that nothing else is known of it.
func (s *sweep) ownerless(r record) {
	s.groups[r.value].Ownerless++
	s.finish(&active{record: r})
}

// finish adds an interval to its group.
func (s *sweep) finish(a *active) {
	s.rows.add(a)
	g := s.groups[a.value]
	wall := int64(a.to - a.from)
	g.add(wall)
	for part := range numParts {
		if ns := a.exact[part] + a.estimated[part]; ns > 0 {
			g.parts[part].add(float64(ns), float64(wall))
			g.parts[part].exact += a.exact[part]
			g.parts[part].estimated += a.estimated[part]
		}
		g.Exact += a.exact[part]
		g.Estimated += a.estimated[part]
		g.errors[part] += a.errors[part]
	}
	for n, x := range a.causes {
		r := g.causes[n]
		if r == nil {
			r = &ratio{}
			g.causes[n] = r
		}
		r.add(float64(x.exact+x.estimated), float64(wall))
		r.exact += x.exact
		r.estimated += x.estimated
	}
	if a.value == slow {
		s.keep(a, wall)
	}
}

// add adds an interval of which nothing else is known.
func (g *tally) add(wall int64) {
	g.Intervals++
	g.Wall += wall
	g.Longest = max(g.Longest, wall)
	g.wall += float64(wall)
	g.squares += float64(wall) * float64(wall)
}

// maxLongest is how many of the slow intervals are kept.
const maxLongest = 10

// keep keeps an interval if it is one of the longest.
func (s *sweep) keep(a *active, wall int64) {
	if len(s.longest) == maxLongest && s.longest[maxLongest-1].Took > wall {
		return
	}
	x := Slow{At: a.from, Took: wall, Process: s.tables.Process(a.process).Title(), Goroutine: a.goroutine}
	if a.span != (stream.Span{}) {
		x.Trace = a.span.TraceText()
	}
	left := wall
	for part := range numParts {
		x.Parts[part] = a.exact[part] + a.estimated[part]
		left -= x.Parts[part]
	}
	x.Parts[Unknown] = max(0, left)
	best, most := int32(-1), int64(0)
	for n, c := range a.causes {
		if ns := c.exact + c.estimated; ns > most || ns == most && n < best {
			best, most = n, ns
		}
	}
	if best >= 0 {
		x.Most = Parts[s.causes.all[best].part] + ": " + s.causes.text(best)
	}
	s.longest = append(s.longest, x)
	slices.SortStableFunc(s.longest, func(a, b Slow) int { return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.At, b.At)) })
	s.longest = s.longest[:min(len(s.longest), maxLongest)]
}
