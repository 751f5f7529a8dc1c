package compare

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"gprof/convert/internal/calls"
)

// Match is something that was taken for the same in both sets, though its names differ.
type Match struct {
	Renamed bool     `json:"renamed"`          // else costs moved From some functions To others
	From    []string `json:"from"`             // in the base
	To      []string `json:"to"`               // now
	Within  string   `json:"within,omitempty"` // of costs that moved: the caller, whose own is meant by its name

	below []string // functions that changed below those between which costs moved
}

const (
	// maxRounds bounds how deep a chain of renamed functions may be: each is found by its callers.
	maxRounds = 16
	// maxCandidates bounds the functions of a set that are tried, the heaviest.
	maxCandidates = 200

	// Callers and callees of a renamed function are alike; a pair less alike makes it ambiguous.
	alike, somewhatAlike = 0.7, 0.5
	// commonCallee is the part of its cost that a function without the same place must have in the
	// same callees.
	commonCallee = 0.1
)

// candidate is a function that only one set has.
type candidate struct {
	name             string
	place            string // package and file, "" unknown
	cost             float64
	callers, callees map[string]float64 // parts of its cost; "" is the root, or itself
}

// findRenamed finds functions that have another name now: that has the same callers and callees, at
// about the same cost, and no other comes into question. It reports whether there are more.
func (b *builder) findRenamed() bool {
	b.totals(&b.base)
	b.totals(&b.new)
	gone, come := b.base.candidates(b.Tree, b.new.exists), b.new.candidates(b.Tree, b.base.exists)
	found := false
	for _, x := range gone {
		y, only := choice(x, come)
		if !only {
			continue
		}
		if back, only := choice(y, gone); !only || back != x || !x.renamed(y) {
			continue
		}
		b.renamed[x.name] = y.name
		b.report.Matched = append(b.report.Matched, Match{Renamed: true, From: []string{x.name}, To: []string{y.name}})
		found = true
	}
	return found
}

// choice is the one candidate that may be x under another name.
func choice(x *candidate, all []*candidate) (one *candidate, only bool) {
	for _, y := range all {
		if common(x.callers, y.callers) < somewhatAlike || common(x.callees, y.callees) < somewhatAlike && !sameInOther(x.name, y.name) {
			continue
		}
		if one != nil {
			return nil, false
		}
		one = y
	}
	return one, one != nil
}

// renamed says whether there is enough that speaks for it.
func (x *candidate) renamed(y *candidate) bool {
	if x.cost > 2*y.cost || y.cost > 2*x.cost {
		return false
	}
	if sameInOther(x.name, y.name) {
		return true
	}
	if common(x.callers, y.callers) < alike || common(x.callees, y.callees) < alike {
		return false
	}
	known := 0.0
	for name, part := range x.callees {
		if name != "" && name != oneSided {
			known += min(part, y.callees[name])
		}
	}
	return known >= commonCallee || x.place != "" && x.place == y.place
}

// sameInOther reports whether two functions differ in the path of their package alone.
func sameInOther(x, y string) bool {
	short := func(name string) string {
		pkg := calls.PackageOf(name)
		return name[strings.LastIndexByte(pkg, '/')+1:]
	}
	return short(x) == short(y)
}

// common is how much of two distributions is the same.
func common(x, y map[string]float64) (sum float64) {
	for name, part := range x {
		sum += min(part, y[name])
	}
	return sum
}

// oneSided stands for all functions that only one set has, among callees: they may be renamed, too.
const oneSided = "\x00"

// candidates are the functions of a side that the other lacks, heavy ones, by name.
func (s *side) candidates(t *Tree, other map[string]bool) []*candidate {
	known := map[string]*candidate{}
	for i := 1; i < len(t.Nodes); i++ {
		n, cost := &t.Nodes[i], s.tallies[i].total
		caller := &t.Nodes[n.Caller]
		if c := s.candidate(known, n.Name, other); c != nil && cost > 0 && caller.Name != n.Name {
			c.cost += cost
			c.callers[caller.Name] += cost
		}
		if c := s.candidate(known, n.Name, other); c != nil {
			c.callees[""] += s.tallies[i].self
		}
		if c := s.candidate(known, caller.Name, other); c != nil && caller.Name != n.Name {
			name := n.Name
			if !other[name] {
				name = oneSided
			}
			c.callees[name] += cost
		}
	}
	s.places(known)
	all := slices.DeleteFunc(slices.Collect(maps.Values(known)), func(c *candidate) bool { return c.cost < minShare*s.all.whole })
	slices.SortFunc(all, func(x, y *candidate) int { return cmp.Or(cmp.Compare(y.cost, x.cost), cmp.Compare(x.name, y.name)) })
	all = all[:min(len(all), maxCandidates)]
	for _, c := range all {
		for name := range c.callers {
			c.callers[name] /= c.cost
		}
		for name := range c.callees {
			c.callees[name] /= c.cost
		}
	}
	return all
}

// candidate is that of a name, nil if both sets have it.
func (s *side) candidate(known map[string]*candidate, name string, other map[string]bool) *candidate {
	if name == "" || other[name] || !s.exists[name] {
		return nil
	}
	c := known[name]
	if c == nil {
		c = &candidate{name: name, callers: map[string]float64{}, callees: map[string]float64{}}
		known[name] = c
	}
	return c
}

// places fills in where candidates lie. Directories may differ between machines.
func (s *side) places(known map[string]*candidate) {
	for key, file := range s.set.stacks.file {
		if c := known[s.set.functions[key]]; c != nil && file != "" {
			c.place = calls.PackageOf(c.name) + " " + path.Base(strings.ReplaceAll(file, `\`, "/"))
		}
	}
}
