package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// fewCommon is the share of samples in functions of both sets below which they seem to be of different
// programs.
const fewCommon = 0.5

// compareKinds notes how the sets differ so that their differences may mean nothing: in what was
// recorded, in how it was, and on which machines.
func (r *Report) compareKinds() {
	if r.base.all.whole <= 0 || r.new.all.whole <= 0 {
		return // nothing is compared with something
	}
	switch common := r.inCommon(); {
	case common == 0:
		r.Notes = append(r.Notes, "no function is in both sets: they are of different programs, or one of them has no names")
	case common < fewCommon:
		r.Notes = append(r.Notes, fmt.Sprintf("only %.0f %% of a set is in functions that both sets have: they seem to be of different programs", 100*common))
	}
	r.noteKinds("samples were taken in different ways", func(p *process) string { return p.taken })
	r.noteKinds("the machines are different", func(p *process) string { return p.machine })
	r.noteKinds("different versions of Go built the programs", func(p *process) string { return p.compiler })
	r.noteKinds("the builds have in them that costs time", func(p *process) string { return p.slowed })
	r.noteHosts()
	r.noteEnds()
	if !r.Seconds && !r.Basis.valued() {
		r.noteKinds("samples are counted, and were taken at different rates", func(p *process) string { return fmt.Sprintf("every %g s", p.interval) })
	}
}

// inCommon is the share of samples in functions that both sets have, in the set where it is less.
func (r *Report) inCommon() float64 {
	return min(r.base.commonWith(r.new), r.new.commonWith(r.base))
}

// commonWith is the share of a set's samples in functions that another set has, too.
func (s *sample) commonWith(o *sample) float64 {
	var names []string
	for name := range s.functions {
		if _, ok := o.functions[name]; ok && name != s.set.functions[0] { // that is: there is no stack
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return whole(s.selfCells(names)) / s.all.whole
}

// noteEnds notes that the ends of processes were recorded in one of the sets alone. Servers that still run are in both.
func (r *Report) noteEnds() {
	unseen := func(s *sample) (n int) {
		for i := range s.set.processes {
			n += number(s.set.processes[i].unseen)
		}
		return n
	}
	note := func(name string, n, of int) {
		r.Notes = append(r.Notes, fmt.Sprintf("the ends of %d of %d processes of the %s set were not recorded: if they were killed they may have done less than others", n, of, name))
	}
	switch base, new := unseen(r.base), unseen(r.new); {
	case base > 0 && new == 0:
		note("base", base, r.Base.Processes)
	case new > 0 && base == 0:
		note("new", new, r.New.Processes)
	}
}

// noteHosts says why sets that are large enough have no pairs, if it is for the hosts.
func (r *Report) noteHosts() {
	hosts := func(s *sample) (all []string) {
		for i := range s.set.processes {
			all = append(all, s.set.processes[i].host)
		}
		return all
	}
	base, new := hosts(r.base), hosts(r.new)
	both := func(host string) bool { return host == "" || slices.Contains(base, host) }
	if r.Pairs == 0 && r.processes() >= minPairs && !slices.Contains(base, "") && !slices.ContainsFunc(new, both) {
		r.Notes = append(r.Notes, "the sets have no host in common, so no processes are compared in pairs; in redacted recordings hosts have other names")
	}
}

// unevenly is from which difference of shares on a kind of processes is in one set much more often than in the other.
const unevenly = 0.2

// noteKinds notes that processes of both sets are of different kinds, if all are known; or, where they are not compared in
// pairs, of the same kinds in other proportions: then a mean changes though no process did.
func (r *Report) noteKinds(what string, of func(*process) string) {
	base, new := r.base.kinds(of), r.new.kinds(of)
	if base[""]+new[""] > 0 {
		return
	}
	oneSided, uneven := false, false
	for kind := range joined(base, new) {
		shares := [2]float64{float64(base[kind]) / float64(r.Base.Processes), float64(new[kind]) / float64(r.New.Processes)}
		oneSided = oneSided || min(shares[0], shares[1]) == 0
		uneven = uneven || math.Abs(shares[0]-shares[1]) > unevenly
	}
	if oneSided || uneven && r.Pairs == 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: %s in the base set, %s in the new one", what, listKinds(base, !oneSided), listKinds(new, !oneSided)))
	}
}

// kinds counts the processes of each kind.
func (s *sample) kinds(of func(*process) string) map[string]int {
	all := map[string]int{}
	for i := range s.set.processes {
		all[of(&s.set.processes[i])]++
	}
	return all
}

func joined(a, b map[string]int) map[string]int {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// listKinds writes the first few kinds, with how many processes each has.
func listKinds(kinds map[string]int, counted bool) string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if counted {
			kind = fmt.Sprintf("%d of %s", kinds[kind], kind)
		}
		all = append(all, kind)
	}
	return strings.Join(all[:min(3, len(all))], ", ")
}
