package compare

import (
	"cmp"
	"math"
	"slices"

	"gprof/convert/internal/chance"
	"gprof/convert/internal/durations"
)

// Verdict is the result of a condition.
type Verdict int

const (
	Holds   Verdict = iota // the figure is within the bound
	Nothing                // there is no such figure, as for markers without a duration
	Noise                  // beyond the bound, but not for sure
	TooFew                 // beyond the bound, with too few processes to judge
	Beyond                 // beyond the bound for sure
)

// String is the verdict in a word.
func (v Verdict) String() string {
	return [...]string{"holds", "nothing", "noise", "too few", "beyond"}[v]
}

// MarshalText is String, for JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Outcome is a condition and its result.
type Outcome struct {
	Condition Condition `json:"-"` // about one name, if it was about all
	Text      string    `json:"condition"`
	Name      string    `json:"name"`
	Verdict   Verdict   `json:"verdict"`
	Change    Change    `json:"change"`

	// Of is how many names the condition was tried on, if it is about all. Those that are beyond the
	// bound have an outcome each; if none is, the one that came nearest stands for all.
	Of int `json:"of,omitempty"`

	// InPairs says that the change is that in pairs of processes which were recorded in turn.
	InPairs bool `json:"in_pairs"`

	// Match says of which functions the figure is, if they are compared as one.
	Match *Match `json:"match,omitempty"`

	// Findable is the least change that would have been found with a probability of 95 %: relative to the
	// base if the bound is, in the figure's unit if that is; of a bound without a sign, the figure. Of a condition
	// about all names it is that of the largest, which together have half of all. It is nil if there are too few processes.
	Findable *float64 `json:"findable"`

	// Needed is how many processes in each set would find twice the change that the bound allows; 0 if
	// there are enough, or if it allows none.
	Needed int `json:"needed,omitempty"`

	p      float64 // of lying so far beyond the bound by chance
	err    float64 // standard error of what is compared with the bound, in the bound's unit
	margin float64 // by which it lies beyond the bound
	degree float64 // of freedom
}

// Check evaluates conditions. With a probability of 95 % none is taken to be beyond its bound by chance, however many there
// are: each has an equal part of the doubt. The error is [ErrName] if a name is in neither set.
func (r *Report) Check(conditions ...Condition) ([]Outcome, error) {
	all := []Outcome{}
	for _, c := range conditions {
		if k := r.kin[c.Name]; k != nil && !c.ofMarker() {
			c.Name = k.name
		}
		if err := r.known(c); err != nil {
			return nil, err
		}
		outcomes := r.try(c, len(conditions))
		judge(outcomes, len(conditions))
		if c.Name == allNames {
			outcomes = shown(outcomes)
		}
		all = append(all, outcomes...)
	}
	return all, nil
}

// judge finds the outcomes of one of so many conditions that are beyond its bound for sure, by Holm's procedure, and what
// would have been.
func judge(tried []Outcome, conditions int) {
	var outcomes []*Outcome
	for i := range tried {
		if o := &tried[i]; o.Change.Judged && o.Verdict != Nothing {
			outcomes = append(outcomes, o)
		}
	}
	slices.SortStableFunc(outcomes, func(a, b *Outcome) int { return cmp.Compare(a.p, b.p) })
	surely := true
	for i, o := range outcomes {
		surely = surely && o.p <= chance.Unlikely/float64(conditions*(len(outcomes)-i))
		switch {
		case o.margin <= 0:
			o.Verdict = Holds
		case surely:
			o.Verdict = Beyond
		default:
			o.Verdict = Noise
		}
		o.power(conditions * len(outcomes))
	}
}

// shown are the outcomes of one condition that are beyond its bound, or else the one that is nearest to it.
func shown(outcomes []Outcome) []Outcome {
	if outcomes[0].Verdict == Nothing && outcomes[0].Name == allNames {
		return outcomes
	}
	of, findable := len(outcomes), ofLargest(outcomes)
	slices.SortStableFunc(outcomes, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(b.Verdict, a.Verdict), cmp.Compare(a.p, b.p), cmp.Compare(b.margin, a.margin))
	})
	n := 1
	for n < of && outcomes[n].Verdict == Beyond {
		n++
	}
	for i := range outcomes[:n] {
		outcomes[i].Of, outcomes[i].Findable, outcomes[i].Needed = of, findable, 0
	}
	return outcomes[:n]
}

// ofLargest is the change that would have been found in each of the largest, which together have half of all.
func ofLargest(outcomes []Outcome) (findable *float64) {
	slices.SortStableFunc(outcomes, func(a, b Outcome) int { return cmp.Compare(b.Change.Base.Value, a.Change.Base.Value) })
	all, so := 0.0, 0.0
	for i := range outcomes {
		all += outcomes[i].Change.Base.Value
	}
	for i := range outcomes {
		o := &outcomes[i]
		if so >= all/2 || o.Findable == nil {
			break
		}
		if so += o.Change.Base.Value; findable == nil || math.Abs(*o.Findable) > math.Abs(*findable) {
			findable = o.Findable
		}
	}
	return findable
}

// try compares what one of so many conditions is about with its bound, of each name.
func (r *Report) try(c Condition, conditions int) (all []Outcome) {
	if c.Name != allNames {
		return []Outcome{r.outcome(c, conditions)}
	}
	names := r.listed()
	if c.ofMarker() {
		names = r.names(markersOf)
	}
	for _, name := range names {
		c.Name = name
		o := r.outcome(c, conditions*len(names))
		if c.kind != relative || r.comparable(&o) {
			all = append(all, o)
		}
	}
	if len(all) == 0 {
		c.Name = allNames
		all = []Outcome{{Condition: c, Text: c.Text, Name: c.Name, Verdict: Nothing, Change: Change{P: 1}}}
	}
	return all
}

// comparable reports whether what became of a name can be told in percent: in both sets it is there, and something
// that is no more did not grow. A function that took nothing by itself, and now does, grew beyond all bounds.
func (r *Report) comparable(o *Outcome) bool {
	change, below := &o.Change, o.Condition.below
	if change.Relative != nil {
		return change.New.Value > 0 || below
	}
	return r.base.functions[o.Name] != nil && !o.Condition.ofMarker() && change.New.Value > 0 && !below
}

// outcome compares a figure with its bound: in pairs if there are, enough for so many figures that share the doubt, else by
// how much the processes of each set vary.
func (r *Report) outcome(c Condition, figures int) Outcome {
	o := Outcome{Condition: c, Text: c.Text, Name: c.Name, Match: r.matchOf(c.Name), p: 1}
	if c.ofMarker() {
		o.Match = nil
	}
	if d, ok := r.differences(c); ok && r.tell(figures) {
		o.Change, _ = r.changeInPairs(c)
		o.InPairs = true
		o.comparePairs(d)
		return o
	}
	o.Change = r.change(c.figure)
	bound, processes := c.limit(o.Change.Base), r.processes()
	if c.kind == absolute {
		processes = r.New.Processes
	}
	limit := newChange(bound, o.Change.New, processes)
	o.Change.Judged = limit.Judged
	o.p, o.degree = limit.P, limit.freedom
	o.margin, o.err = limit.difference(), math.Hypot(bound.Error, limit.New.Error)
	if c.kind == relative { // to nothing there is no change that could be found
		o.margin, o.err = o.margin/max(o.Change.Base.Value, math.SmallestNonzeroFloat64), o.err/o.Change.Base.Value
	}
	o.turn()
	switch {
	case bound.none || limit.New.none:
		o.Verdict = Nothing
	case o.margin > 0:
		o.Verdict = TooFew // unless it is judged
	}
	return o
}

// tell reports whether the ranks of all pairs can tell a difference of one of so many figures for sure: if all of the pairs
// but few have it.
func (r *Report) tell(figures int) bool {
	const few = 8 // as many ways there are to put signs to ranks if the three lowest may have either
	return few*math.Exp2(1-float64(len(r.pairs))) <= chance.Unlikely/float64(figures)
}

// comparePairs compares the differences in pairs with the bound.
func (o *Outcome) comparePairs(d []float64) {
	bound := o.Condition.bound
	if o.Condition.kind == relative {
		bound = math.Log1p(bound)
	}
	slack := 0.0
	if o.Condition.quantile > 0 { // which are no more precise
		slack = durations.Precision
		if o.Condition.kind == difference {
			slack *= o.Change.Base.Value
		}
		if o.Condition.below {
			slack = -slack
		}
		bound += slack
	}
	for i := range d {
		d[i] -= bound
	}
	middle, low, high := chance.Middle(d, chance.Unlikely)
	o.p, o.degree = chance.SignedRank(d), float64(len(d)-1)
	o.margin, o.err = middle+slack, (high-low)/2/chance.Quantile(chance.Unlikely, o.degree)
	o.turn()
}

// turn makes the margin that of a bound below which a figure must not be.
func (o *Outcome) turn() {
	if o.Condition.below {
		o.margin = -o.margin
	}
}

// mostNeeded is the most processes that anybody would record.
const mostNeeded = 10_000

// power says which change would have been found, given how many figures share the doubt.
func (o *Outcome) power(figures int) {
	c := &o.Condition
	far := o.err * (chance.Quantile(chance.Unlikely/float64(figures), o.degree) + chance.Quantile(2*chance.Unlikely, o.degree))
	if math.IsInf(far, 0) || math.IsNaN(far) {
		return
	}
	if far > math.Abs(c.bound) && c.bound != 0 && c.kind != absolute {
		processes := float64(o.degree + 1)
		if !o.InPairs {
			processes = float64(o.degree)/2 + 1
		}
		if needed := math.Ceil(processes * (far / c.bound) * (far / c.bound)); needed <= mostNeeded {
			o.Needed = int(needed)
		}
	}
	if c.below {
		far = -far
	}
	if at := c.bound + far; c.kind == relative && o.InPairs {
		o.Findable = pointer(math.Expm1(math.Log1p(c.bound) + far))
	} else {
		o.Findable = pointer(at)
	}
}
