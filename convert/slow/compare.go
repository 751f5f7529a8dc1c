package slow

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gprof/convert/internal/chance"
	"gprof/convert/internal/durations"
)

// report makes the report of what was swept.
func (s *Sink) report(w *sweep, t *traits, slowest *durations.Slowest, alone int64) {
	g := w.groups
	r := &s.Report
	r.Query, r.Names = s.query.String(), s.sorted()
	for i := range g {
		g[i].Estimated = min(g[i].Estimated, g[i].room())
	}
	r.Slow, r.Rest, r.Open = g[slow].Group, g[rest].Group, g[open].Group
	r.Split = w.split()
	r.More = w.more()
	r.Traits, r.Unlike = t.compared(g[slow].Intervals, g[rest].Intervals)
	r.Longest = append([]Slow{}, w.longest...)
	r.Traces = []Trace{}
	for _, x := range slowest {
		if x != (durations.Exemplar{}) {
			r.Traces = append(r.Traces, Trace{x.Of.TraceText(), x.Took})
		}
	}
	r.find()
	r.More = r.More[:min(len(r.More), maxListed)]
	r.Traits = r.Traits[:min(len(r.Traits), maxListed)]
	r.Notes = s.notes(r, alone)
}

// maxListed is how many places and traits a report has.
const maxListed = 50

// split is the time of the groups by parts.
func (w *sweep) split() []Part {
	all := make([]Part, numParts)
	a, b := w.groups[slow], w.groups[rest]
	for part := range all {
		all[part] = Part{Name: Parts[part], Slow: a.amount(part), Rest: b.amount(part), Open: w.groups[open].amount(part), P: 1}
		if part != Unknown {
			all[part].P = differ(&a.parts[part], &b.parts[part], a, b)
		}
	}
	return all
}

// room is the time that is left to estimates.
func (g *tally) room() int64 { return max(0, g.Wall-g.Exact) }

// amount is a part of a group's time. A sample stands for the time since the one before, so that few
// samples can stand for more than there was.
func (g *tally) amount(part int) (a Amount) {
	x := &g.parts[part]
	a = Amount{Exact: x.exact, Estimated: min(x.estimated, g.room()), Error: int64(min(2*math.Sqrt(g.errors[part]), float64(g.Wall)))}
	if part == Unknown {
		a.Exact = max(0, g.room()-g.Estimated)
	}
	if g.Wall > 0 {
		a.Share = float64(a.Sum()) / float64(g.Wall)
	}
	return a
}

// more are the places that have more of the time of slow intervals.
func (w *sweep) more() []Excess {
	all := []Excess{}
	a, b := w.groups[slow], w.groups[rest]
	for n := range w.causes.all {
		x, y := a.causes[int32(n)], b.causes[int32(n)]
		if x == nil {
			continue
		}
		if y == nil {
			y = &ratio{}
		}
		e := Excess{Part: Parts[w.causes.all[n].part], Place: w.causes.text(int32(n)), In: x.in, Estimated: x.exact == 0, P: differ(x, y, a, b), By: w.endedBy(int32(n))}
		e.Slow, e.SlowShare = mean(x, a)
		e.Rest, e.RestShare = mean(y, b)
		if e.SlowShare >= e.RestShare+least {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Excess) int {
		return cmp.Or(cmp.Compare(b.Slow-b.Rest, a.Slow-a.Rest), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Place, b.Place))
	})
	return all
}

func mean(r *ratio, g *tally) (ns, share float64) {
	if g.Intervals > 0 {
		ns = min(r.sum, g.wall) / float64(g.Intervals)
	}
	share, _ = r.share(g)
	return ns, min(share, 1)
}

// maxWakers is how many are told of a wait.
const maxWakers = 3

// endedBy is who ended the waits of slow intervals at a place.
func (w *sweep) endedBy(n int32) []Waker {
	all := []Waker{}
	for k, x := range w.groups[slow].wakers {
		if k.cause == n {
			all = append(all, Waker{w.causes.text(k.by), x.Time, x.Count})
		}
	}
	slices.SortFunc(all, func(a, b Waker) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Place, b.Place)) })
	return all[:min(len(all), maxWakers)]
}

// least is by how much a share must be larger to matter.
const least = 0.005

// find marks what is more than chance, of all that was compared.
func (r *Report) find() {
	var all []float64
	for i := range r.Split[:Unknown] {
		all = append(all, r.Split[i].P)
	}
	for i := range r.More {
		all = append(all, r.More[i].P)
	}
	for i := range r.Traits {
		all = append(all, r.Traits[i].P)
	}
	limit := chance.Limit(all)
	for i := range r.Split[:Unknown] {
		p := &r.Split[i]
		p.Found = p.P <= limit && p.Slow.Share >= p.Rest.Share+least
	}
	for i := range r.More {
		r.More[i].Found = r.More[i].P <= limit
	}
	for i := range r.Traits {
		r.Traits[i].Found = r.Traits[i].P <= limit
	}
}

// wellKnown is from which share of their time on nothing needs to be said about how well intervals are known.
const wellKnown = 0.95

// highPressure is from which share of the time on work that waits for a processor is worth a note.
const highPressure = 0.1

// notes say what is not known, and what to record for it.
func (s *Sink) notes(r *Report, alone int64) []string {
	notes := []string{}
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if n := r.Slow.Ownerless; n > 0 {
		add("%d of the slow intervals name no goroutine, so nothing of their time is split: the recording does not have it", n)
	}
	if r.Slow.Wall > 0 && float64(r.Slow.Exact) < wellKnown*float64(r.Slow.Wall) {
		switch {
		case !s.seen.states:
			add("no execution trace covers this time, so nothing is exact: record with GPROF_TRACE=5s and a trigger that writes the trace, such as GPROF_TRIGGERS='http.request>1s: trace 1s' (docs/slow.md)")
		default:
			add("execution traces cover %.0f %% of the slow intervals' time", 100*float64(r.Slow.Exact)/float64(r.Slow.Wall))
		}
		switch {
		case s.seen.ownedWaits:
		case s.seen.waits && !s.seen.states:
			add("waits were recorded without their goroutines, so no interval's are known: GPROF_WALL_HZ=1000 records them")
		case !s.seen.states:
			add("waits were not recorded: GPROF_WALL_HZ=1000 records where each goroutine waits")
		}
		if !s.seen.samples {
			add("there are no CPU samples")
		}
		if e := r.Split[CPU].Slow.Error; e > 0 && e >= r.Slow.Wall/2 {
			add("the slow intervals have too few CPU samples to tell how much of their time is CPU time")
		}
		if share := s.pressed(); share >= highPressure && r.Split[Unknown].Slow.Share > 1-wellKnown {
			add("how long threads waited for a processor: for %.0f %% of the time some work of the machine did, its own or that of others", 100*share)
		}
	}
	if min(r.Slow.Intervals, r.Rest.Intervals) < fewest {
		add("with fewer than %d intervals in each group chance can't be judged", fewest)
	}
	if alone > 0 {
		add("%d ends have no start, or there were too many at a time; they are left out", alone)
	}
	return notes
}
