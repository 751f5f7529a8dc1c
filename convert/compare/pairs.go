package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gprof/convert/internal/chance"
	"gprof/stream"
)

// pair is a process of each set that were recorded at once, or one after the other, on one machine.
type pair struct{ base, new int }

// minPairs is how many pairs there must be: of fewer, ranks leave too little doubt to be shared by many conditions.
const minPairs = 12

// fewPairs is the share of the smaller set that must be in pairs; if fewer are, the sets were not recorded in turn.
const fewPairs = 0.75

// run is a process of either set.
type run struct {
	*process
	pair           // where it is in its set
	program string // only those of the same may be a pair
	new     bool   // which set
	done    bool
}

// pair finds pairs, unless they are known. What a machine does to one process of a pair it does to the other, so that the differences in
// pairs vary much less than the processes do. Figures play no part in the choice.
//
//  1. Processes that ran together for most of their time, those first that began together.
//  2. Of the others, neighbours in time.
//
// They are in the order in which they were recorded: what goes on beside them may make neighbours alike.
func (r *Report) pair(known [][2]int) {
	if known != nil {
		for _, p := range known {
			r.pairs = append(r.pairs, pair{p[0], p[1]})
		}
		r.Pairs = len(known)
		return
	}
	var all []*run
	alone := len(r.base.programs()) == 1 && len(r.new.programs()) == 1 // under whichever names, as of files of two builds
	for side, s := range []*sample{r.base, r.new} {
		for i := range s.set.processes {
			x := &run{process: &s.set.processes[i], pair: pair{i, i}, new: side == 1}
			if !alone {
				x.program = x.process.program
			}
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b *run) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.program, b.program), cmp.Compare(a.start, b.start))
	})
	if !timed(all) {
		return
	}
	pairs := atOnce(all)
	r.atOnce = len(pairs)
	pairs = append(pairs, inTurn(slices.DeleteFunc(all, func(x *run) bool { return x.done }))...)
	if len(pairs) >= minPairs && float64(len(pairs)) >= fewPairs*float64(r.processes()) {
		slices.SortStableFunc(pairs, func(a, b pair) int {
			return cmp.Compare(r.base.set.processes[a.base].start, r.base.set.processes[b.base].start)
		})
		r.pairs, r.Pairs = pairs, len(pairs)
	}
}

// programs counts the processes of each program.
func (s *sample) programs() map[string]int {
	return s.kinds(func(p *process) string { return p.program })
}

// timed reports whether the times of runs, in order, are those at which they began: no two of a set are the same.
func timed(all []*run) bool {
	last := [2]run{}
	for _, x := range all {
		before := &last[number(x.new)]
		if before.process != nil && before.start == x.start && before.host == x.host && before.program == x.program {
			return false
		}
		*before = *x
	}
	return true
}

// mayPair reports whether two runs are of both sets, of one program, on one machine.
func (x *run) mayPair(y *run) bool {
	return x.new != y.new && x.host == y.host && x.program == y.program
}

// with makes a pair.
func (x *run) with(y *run) pair {
	if x.new {
		x, y = y, x
	}
	x.done, y.done = true, true
	return pair{x.base, y.pair.new}
}

// together reports whether two processes ran at the same time for most of the time of each.
func (x *run) together(y *run) bool {
	both := min(x.end, y.end) - max(x.start, y.start)
	return 2*both > max(x.end-x.start, y.end-y.start)
}

// maxNear bounds how many runs begin meanwhile, among which a run looks for its like.
const maxNear = 256

// atOnce pairs runs of the same time, by their start.
func atOnce(all []*run) (pairs []pair) {
	type candidate struct {
		x, y  *run
		apart stream.Time
	}
	var candidates []candidate
	for i, x := range all {
		for _, y := range all[i+1 : min(len(all), i+1+maxNear)] {
			if y.host != x.host || y.program != x.program || y.start >= x.end {
				break
			}
			if x.mayPair(y) && x.together(y) {
				candidates = append(candidates, candidate{x, y, y.start - x.start})
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.apart, b.apart) })
	for _, c := range candidates {
		if !c.x.done && !c.y.done {
			pairs = append(pairs, c.x.with(c.y))
		}
	}
	return pairs
}

// inTurn pairs runs that follow each other.
func inTurn(all []*run) (pairs []pair) {
	for i := 1; i < len(all); i++ {
		if x, y := all[i-1], all[i]; x.mayPair(y) {
			pairs = append(pairs, x.with(y))
			i++
		}
	}
	return pairs
}

// notePairs says how processes were paired, and how much smaller the error of a process' cost is for it.
func (r *Report) notePairs() {
	if r.Pairs == 0 {
		return
	}
	how := "in turn"
	if 2*r.atOnce > r.Pairs {
		how = "at once"
	}
	text := fmt.Sprintf("%d pairs of processes, recorded %s, are compared", r.Pairs, how)
	cost := Condition{Figure: costFigure}
	if d, ok := r.differences(cost); ok {
		_, low, high := chance.Middle(d, chance.Unlikely)
		apart := newChange(cost.figure(r.base), cost.figure(r.new), r.processes())
		if apart.Low != nil && high > low {
			text += fmt.Sprintf("; without, the error of a process' CPU time would be %.1f times as large", (*apart.High-*apart.Low)/(math.Exp(high)-math.Exp(low)))
		}
	}
	r.pairsNote = text
	r.Notes = append(r.Notes, text)
}

// PairsNote is that of Notes which says how processes were paired, "" if none were.
func (r *Report) PairsNote() string { return r.pairsNote }

// differences are those of a figure in all pairs: of logarithms, or of values where the bound is a
// [difference]. It is not ok if there are no pairs, or in some process there is no such figure.
func (r *Report) differences(c Condition) (d []float64, ok bool) {
	if len(r.pairs) == 0 || c.kind == absolute || c.kind == relative && c.bound <= -1 {
		return nil, false
	}
	base, new := c.each(r.base), c.each(r.new)
	for _, p := range r.pairs {
		x, y := base[p.base], new[p.new]
		switch {
		case !(x > 0 && y > 0):
			return nil, false
		case c.kind == relative:
			d = append(d, math.Log(y/x))
		default:
			d = append(d, y-x)
		}
	}
	return d, true
}

// changeInPairs is a change by what it is in pairs. It is not ok if that is not known.
func (r *Report) changeInPairs(c Condition) (Change, bool) {
	c.kind, c.bound = relative, 0
	d, ok := r.differences(c)
	if !ok {
		return Change{}, false
	}
	middle, low, high := chance.Middle(d, chance.Unlikely)
	change := Change{Base: c.figure(r.base), New: c.figure(r.new), Relative: pointer(math.Expm1(middle)), Judged: true, P: chance.SignedRank(d)}
	if !math.IsInf(low, 0) {
		change.Low, change.High = pointer(math.Expm1(low)), pointer(math.Expm1(high))
	}
	return change, true
}
