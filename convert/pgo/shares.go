package pgo

import (
	"fmt"
	"math"
	"slices"

	"gprof/convert/internal/totals"
	"gprof/stream"
	"gprof/stream/filter"
)

// Weight is how many times as much as others services count that have a process with a name that fits.
type Weight struct {
	Of    filter.Pattern // of a service, or of a process as info calls it, with its version
	Times float64        // above 0
}

// shares sums up samples by group and stack.
type shares struct {
	weights []Weight
	tables  *stream.Tables
	groups  []*group // in the order of their processes
	of      []*group // by ProcessID
	err     error    // of memory
}

// group is what counts as one: the processes of a service that one weight fits.
type group struct {
	times float64
	sums  map[stream.StackID]sum
}

// sumBytes is about how much memory a sum takes in a map. A stack is in one group, as a rule: services have
// different programs.
const sumBytes = 64

// begin puts each process in a group.
func (s *shares) begin(t *stream.Tables) error {
	s.tables, s.of = t, make([]*group, len(t.Processes)+1)
	type key struct {
		weight  int
		service string
	}
	known := map[key]*group{}
	fitted := make([]bool, len(s.weights))
	var names []string
	for i := range t.Processes {
		p := &t.Processes[i]
		names = append(names, p.Title())
		k, times := key{-1, p.Words()[0]}, 1.0
		for n, w := range slices.Backward(s.weights) {
			if slices.ContainsFunc(p.Names(), w.Of.Match) {
				k.weight, times, fitted[n] = n, w.Times, true
			}
		}
		if known[k] == nil {
			known[k] = &group{times, map[stream.StackID]sum{}}
			s.groups = append(s.groups, known[k])
		}
		s.of[i+1] = known[k]
	}
	for n, ok := range fitted {
		if !ok {
			return filter.NoMatch(fmt.Sprintf("no process that a weight is for is called %q", string(s.weights[n].Of)), names)
		}
	}
	return t.Reserve(stream.RowBytes{Stack: 4 + 8 + 8}.In(t))
}

// add adds the totals of a track.
func (s *shares) add(all *totals.Part) {
	g := s.of[all.Process]
	before := len(g.sums)
	for total := range all.All() {
		of := g.sums[total.Stack]
		of.add(total)
		g.sums[total.Stack] = of
	}
	if err := s.tables.Reserve(int64(len(g.sums)-before) * sumBytes); err != nil {
		s.err = err
	}
}

// weigh is what stacks weigh, by StackID. All groups together weigh what they did.
func (s *shares) weigh(timed bool) []int64 {
	shares := make([]float64, s.tables.Stacks.Len()+1)
	var all, times float64
	sums := make([]float64, len(s.groups))
	for i, g := range s.groups {
		for _, of := range g.sums {
			sums[i] += float64(of.weight(timed))
		}
		if sums[i] > 0 {
			all, times = all+sums[i], times+g.times
		}
	}
	for i, g := range s.groups {
		for stack, of := range g.sums {
			shares[stack] += float64(of.weight(timed)) / sums[i] * g.times / times * all
		}
	}
	weights := make([]int64, len(shares))
	for i, share := range shares {
		if share > 0 {
			weights[i] = int64(min(max(1, math.Round(share)), 1<<62))
		}
	}
	return weights
}
