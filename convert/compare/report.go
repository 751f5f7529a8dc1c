package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Report is what changed.
type Report struct {
	Basis     Basis       `json:"basis"`
	Seconds   bool        `json:"seconds"` // usage is in seconds, not in samples
	Base      Summary     `json:"base"`
	New       Summary     `json:"new"`
	Judged    bool        `json:"judged"` // there are enough processes to tell changes from noise
	Notes     []string    `json:"notes"`  // what to bear in mind
	Pairs     int         `json:"pairs"`  // of processes that were recorded in turn; 0: each set is taken by itself
	Cost      Change      `json:"cost"`   // CPU seconds of one process
	All       Change      `json:"all"`    // CPU seconds, or what else is compared, per second of one process
	Functions []*Function `json:"functions"`
	Markers   []*Marker   `json:"markers"`
	Counters  []*Counter  `json:"counters"`
	Matched   []Match     `json:"matched"`        // functions that are the same, though their names differ
	Tree      *Tree       `json:"tree,omitempty"` // nil unless it was asked for

	base, new *sample
	pairs     []pair
	atOnce    int // of the pairs that were found
	pairsNote string
	kin       map[string]*kin // by the names of all that are in one
}

// Summary says what a set holds.
type Summary struct {
	Programs  []string `json:"programs"` // with their versions
	Processes int      `json:"processes"`
	Seconds   float64  `json:"seconds"`         // of all processes
	Samples   int64    `json:"samples"`         // that count
	CPU       float64  `json:"cpu"`             // seconds
	Bytes     float64  `json:"bytes,omitempty"` // of the heap, if that is compared
	Waits     float64  `json:"waits,omitempty"` // seconds, if those are compared
}

// Function is a function. Those that changed most come first.
type Function struct {
	Name     string `json:"name"`
	Self     Change `json:"self"`            // share of all
	Total    Change `json:"total"`           //
	SelfCPU  Change `json:"self_cpu"`        // in a second of one process
	TotalCPU Change `json:"total_cpu"`       //
	Match    *Match `json:"match,omitempty"` // of functions that are compared as one
}

// Marker is the markers of one name, with durations in seconds.
type Marker struct {
	Name  string `json:"name"`
	Count Change `json:"count"` // of one process
	Rate  Change `json:"rate"`  // in a second of one process
	Mean  Change `json:"mean"`
	P50   Change `json:"p50"`
	P99   Change `json:"p99"`
}

// minShare is the share, in either set, below which functions are not listed.
const minShare = 0.002

// Options are the options of a comparison. The zero value is a good choice.
type Options struct {
	Basis Basis  // "": CPU if both sets have it; that of sets that were made for another
	Seed  uint64 // of the random numbers
	Tree  bool   // compare call trees, too, of sets that have kept their stacks

	// Pairs are processes to be compared with each other, by their numbers in the base and in the new set; nil: those that
	// were recorded at once, or in turn.
	Pairs [][2]int
}

// Compare compares two sets. The error is [ErrBasis].
//
//  1. Pairs are found, and each function is compared by its name.
//  2. Those that have another name now, or were divided, become one (kin.go).
//  3. What is more than noise is found, given all that was compared.
func Compare(base, new *Set, o Options) (*Report, error) {
	r, err := begin(base, new, o)
	if err != nil {
		return nil, err
	}
	r.note("base", r.base)
	r.note("new", r.new)
	r.notePairs()
	r.compareFunctions()
	r.match(o.Tree)
	r.compare()
	r.compareKinds()
	return r, nil
}

// Check evaluates conditions on two sets as [Report.Check] does, without all else that a Report has. The error is
// [ErrBasis] or [ErrName].
func Check(base, new *Set, o Options, conditions ...Condition) ([]Outcome, error) {
	r, err := begin(base, new, o)
	if err != nil {
		return nil, err
	}
	if r.oneSided() {
		r.compareFunctions()
		r.match(false)
	}
	return r.Check(conditions...)
}

// begin draws the processes of both sets, and finds pairs.
func begin(base, new *Set, o Options) (*Report, error) {
	r := &Report{Basis: o.Basis, Notes: []string{}, Functions: []*Function{}, Markers: []*Marker{}, Counters: []*Counter{}, Matched: []Match{}}
	if err := r.choose(base, new); err != nil {
		return nil, err
	}
	unit := basis{r.Basis, r.Basis.timed(base, new), counted(base, new)}
	r.Seconds = unit.seconds || r.Basis == CPU || r.Basis == Waits
	r.base, r.new = newSample(base, unit, o.Seed, 1), newSample(new, unit, o.Seed, 2)
	r.Base, r.New = r.base.summary(), r.new.summary()
	r.Judged = r.processes() >= minProcesses
	r.pair(o.Pairs)
	return r, nil
}

// processes is how many processes there are in the smaller set.
func (r *Report) processes() int { return min(r.Base.Processes, r.New.Processes) }

// note notes what is wrong with a set.
func (r *Report) note(name string, s *sample) {
	if n := len(s.set.processes); n < minProcesses {
		r.Notes = append(r.Notes, fmt.Sprintf("too few processes to tell a change from noise: the %s set has %d; record at least %d, better 10", name, n, minProcesses))
	}
	left, failed := 0.0, 0
	for _, p := range s.set.processes {
		failed += number(p.failed)
		left += float64(p.all.Samples) - r.Basis.taken(p.all)
	}
	if failed > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d processes of the %s set crashed, were killed, or ended with an exit status: they may have done less than others", failed, len(s.set.processes), name))
	}
	if left > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%.0f samples of the %s set are kept apart: they have %s CPU time, what is compared has %s", left, name, orNot(r.Basis != CPU), orNot(r.Basis == CPU)))
	}
}

func orNot(yes bool) string {
	if yes {
		return "a"
	}
	return "no"
}

// compare fills the lists, and marks what is found.
func (r *Report) compare() {
	r.Cost, r.All = r.compareFigure(Condition{Figure: costFigure}), r.compareFigure(Condition{Figure: "cpu"})
	tested := []*Change{&r.All}
	if r.Pairs > 0 { // else they may not have had the same work
		tested = append(tested, &r.Cost)
	}
	for _, f := range r.Functions {
		tested = append(tested, &f.Self, &f.Total)
	}
	for _, name := range r.names(markersOf) {
		if m := r.marker(name); m != nil {
			r.Markers = append(r.Markers, m)
			tested = append(tested, &m.Rate, &m.P50, &m.P99)
		}
	}
	find(tested)
	r.sort()
	r.counters()
}

// compareFunctions compares those that are not too rare.
func (r *Report) compareFunctions() {
	for _, name := range r.listed() {
		r.Functions = append(r.Functions, r.function(name))
	}
}

// listed are the names of functions that are not too rare, in order.
func (r *Report) listed() []string {
	return slices.DeleteFunc(r.names(functionsOf), func(name string) bool {
		return max(r.base.part(name), r.new.part(name)) < minShare
	})
}

// names are those of both sets, in order.
func (r *Report) names(of func(*sample) map[string][]place) []string {
	all := slices.Concat(slices.Collect(maps.Keys(of(r.base))), slices.Collect(maps.Keys(of(r.new))))
	slices.Sort(all)
	return slices.Compact(all)
}

func functionsOf(s *sample) map[string][]place { return s.functions }

func markersOf(s *sample) map[string][]place { return s.markers }

// change compares one figure.
func (r *Report) change(of func(*sample) Estimate) Change {
	return newChange(of(r.base), of(r.new), r.processes())
}

// compareFigure is change in pairs, if there are pairs.
func (r *Report) compareFigure(c Condition) Change {
	if change, ok := r.changeInPairs(c); ok {
		return change
	}
	return r.change(c.figure)
}

// function compares a function.
func (r *Report) function(name string) *Function {
	base, new := r.base.function(name), r.new.function(name)
	n := r.processes()
	f := &Function{name,
		newChange(base.self.share, new.self.share, n), newChange(base.total.share, new.total.share, n),
		newChange(base.self.load, new.self.load, n), newChange(base.total.load, new.total.load, n), r.matchOf(name)}
	noteOnly(r.base.functions[name] != nil, r.new.functions[name] != nil, &f.Self, &f.Total, &f.SelfCPU, &f.TotalCPU)
	return f
}

// marker compares the markers of one name.
func (r *Report) marker(name string) *Marker {
	base, new := r.base.marker(name), r.new.marker(name)
	if base.count.Value+new.count.Value == 0 {
		return nil
	}
	n := r.processes()
	m := &Marker{name, newChange(base.count, new.count, n), newChange(base.rate, new.rate, n),
		newChange(base.mean, new.mean, n), newChange(base.p50, new.p50, n), newChange(base.p99, new.p99, n)}
	noteOnly(r.base.markers[name] != nil, r.new.markers[name] != nil, &m.Count, &m.Rate, &m.Mean, &m.P50, &m.P99)
	return m
}

// sort puts findings first, then by difference, then by size.
func (r *Report) sort() {
	slices.SortStableFunc(r.Functions, func(a, b *Function) int {
		return cmp.Or(cmp.Compare(b.found(), a.found()), cmp.Compare(b.moved(), a.moved()), cmp.Compare(b.size(), a.size()), cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(r.Markers, func(a, b *Marker) int {
		return cmp.Or(cmp.Compare(b.found(), a.found()), cmp.Compare(b.Count.Base.Value+b.Count.New.Value, a.Count.Base.Value+a.Count.New.Value), cmp.Compare(a.Name, b.Name))
	})
}

// Leaf says whether the function called nothing: Total is Self.
func (f *Function) Leaf() bool {
	return f.Self.Base.Value == f.Total.Base.Value && f.Self.New.Value == f.Total.New.Value
}

func (f *Function) found() int { return number(f.Self.Found || f.Total.Found) }

func (m *Marker) found() int { return number(m.Rate.Found || m.P50.Found || m.P99.Found) }

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// moved is by how much of all a function changed.
func (f *Function) moved() float64 {
	return max(math.Abs(f.Self.difference()), math.Abs(f.Total.difference())/2)
}

// size is a function's share in both sets.
func (f *Function) size() float64 {
	return f.Self.Base.Value + f.Self.New.Value + (f.Total.Base.Value+f.Total.New.Value)/2
}

func (c *Change) difference() float64 { return c.New.Value - c.Base.Value }
