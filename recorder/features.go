package recorder

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// Features is a set of kinds of data that a recording may hold.
type Features uint32

// The features. Their names in the environment are in [FeatureNames]'s order.
const (
	FeatureMarkers  Features = 1 << iota // markers of the program, and frames of labels
	FeatureStacks                        // stacks of markers that ask for them
	FeatureSamples                       // CPU samples, see Options.CPU
	FeatureCounters                      // see Options.CounterHz
	FeatureHeap                          // see Options.HeapEvery
	FeatureWaits                         // see Options.WaitHz; off by default
	FeatureTrace                         // Go's execution trace, see Options.TraceBehind; off by default
)

// FeatureNames are the names of the features, the lowest bit's first.
func FeatureNames() []string {
	return []string{"markers", "stacks", "samples", "counters", "heap", "waits", "trace"}
}

// Defaults of what is on only when it is asked for.
const (
	defaultWaitHz      = 5
	defaultTraceBehind = 5 * time.Second
)

// Has reports whether all of f are in the set.
func (s Features) Has(f Features) bool { return s&f == f }

// String lists names, separated by commas; "none" for the empty set.
func (s Features) String() string {
	if s.names() == nil {
		return "none"
	}
	return strings.Join(s.names(), ",")
}

func (s Features) names() (names []string) {
	for i, name := range FeatureNames() {
		if s.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// ParseFeatures reads a list of names, separated by commas. Those that begin with
// a minus are what is left out.
func ParseFeatures(list string) (only, without Features, err error) {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		plain, minus := strings.CutPrefix(name, "-")
		f := featureNamed(plain)
		switch {
		case name == "":
		case f == 0:
			return 0, 0, fmt.Errorf("%q: want names of %s, with a minus those to leave out", name, strings.Join(FeatureNames(), ", "))
		case minus:
			without |= f
		default:
			only |= f
		}
	}
	return only, without, nil
}

// featureNamed is 0 if there is none of that name.
func featureNamed(name string) Features {
	for i, n := range FeatureNames() {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// settleFeatures has each option say what the features say of it, and features what
// the options say: in the end both tell the same.
func (p *plan) settleFeatures() {
	named := p.Features
	want := func(f Features) bool { return (named == 0 || named.Has(f)) && p.Without&f == 0 }
	if !want(FeatureSamples) {
		p.CPU = CPUOff
	}
	if !want(FeatureCounters) {
		p.CounterHz = -1
	}
	if !want(FeatureHeap) {
		p.HeapEvery = 0
	}
	p.WaitHz = asked(p.WaitHz, want(FeatureWaits), named.Has(FeatureWaits), defaultWaitHz)
	p.TraceBehind = asked(p.TraceBehind, want(FeatureTrace), named.Has(FeatureTrace), defaultTraceBehind)
	p.traceable = want(FeatureTrace)
	p.Features = 0
	for i, on := range [...]bool{want(FeatureMarkers), want(FeatureMarkers | FeatureStacks), p.CPU != CPUOff, p.CounterHz > 0, p.HeapEvery > 0, p.WaitHz > 0, p.TraceBehind > 0} {
		if on {
			p.Features |= 1 << i
		}
	}
}

// asked is how much there is of what is off unless it is asked for: by a number,
// or by the feature's name.
func asked[T int | time.Duration](n T, wanted, named bool, byName T) T {
	switch {
	case !wanted:
		return 0
	case n == 0 && named:
		return byName
	}
	return n
}

// describe is what meta says.
func (s Features) describe() string {
	return fmt.Sprintf("%s (%d of %d)", strings.ReplaceAll(s.String(), ",", ", "), bits.OnesCount32(uint32(s)), len(FeatureNames()))
}
