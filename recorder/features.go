package recorder

import (
	"fmt"
	"math/bits"
	"os"
	"strings"
	"time"

	"gprof/rawformat/pattern"
)

// Features is a set of kinds of data that a recording may hold.
type Features uint32

// The features. [FeatureNames] has their names in the environment, in this order.
const (
	FeatureMarkers  Features = 1 << iota // markers of the program, and frames of labels
	FeatureStacks                        // stacks of markers that ask for them
	FeatureSamples                       // CPU samples, see Options.CPU
	FeatureCounters                      // see Options.CounterHz
	FeatureHeap                          // see Options.HeapEvery
	FeatureWaits                         // see Options.WaitHz and WallHz; off by default
	FeatureTrace                         // Go's execution trace, see Options.TraceBehind; off by default
)

// FeatureNames returns the names of the features, that of the lowest bit first. The caller
// owns the slice.
func FeatureNames() []string {
	return []string{"markers", "stacks", "samples", "counters", "heap", "waits", "trace"}
}

// Defaults of features that are off unless they are asked for.
const (
	defaultWaitHz      = 5
	defaultTraceBehind = 5 * time.Second
)

// Has reports whether the set contains all of f.
func (s Features) Has(f Features) bool { return s&f == f }

// String lists the names, separated by commas; "none" for the empty set.
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

// ParseFeatures reads a list of names separated by commas. Names that begin with a minus
// are features to leave out. An unknown name is an error.
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

// featureNamed returns the feature of that name, 0 if there is none.
func featureNamed(name string) Features {
	for i, n := range FeatureNames() {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// settleFeatures makes options and features agree: it switches off the options of features
// that are not wanted, and then derives Features from the options.
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
	if !want(FeatureWaits) {
		p.WallHz = 0
	}
	p.TraceBehind = asked(p.TraceBehind, want(FeatureTrace), named.Has(FeatureTrace), defaultTraceBehind)
	p.traceable = want(FeatureTrace)
	p.Features = 0
	for i, on := range [...]bool{want(FeatureMarkers), want(FeatureMarkers | FeatureStacks), p.CPU != CPUOff, p.CounterHz > 0, p.HeapEvery > 0, p.WaitHz > 0 || p.WallHz > 0, p.TraceBehind > 0} {
		if on {
			p.Features |= 1 << i
		}
	}
}

// asked is the value of an option that is off unless it is asked for, by a number or by the
// feature's name.
func asked[T int | time.Duration](n T, wanted, named bool, byName T) T {
	switch {
	case !wanted:
		return 0
	case n == 0 && named:
		return byName
	}
	return n
}

// describe is the text for meta.
func (s Features) describe() string {
	return fmt.Sprintf("%s (%d of %d)", strings.ReplaceAll(s.String(), ",", ", "), bits.OnesCount32(uint32(s)), len(FeatureNames()))
}

// wanted says whether a track of this process is recorded, or the row of a root function;
// nil: all are.
func wanted(tracks pattern.Tracks) func(track string) bool {
	if len(tracks) == 0 {
		return nil
	}
	pid := os.Getpid()
	return func(track string) bool { return tracks.Want(track, pid) }
}
