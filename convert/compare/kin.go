package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gprof/convert/internal/calls"
)

// kin are functions that are compared as one: the same under another name, or some between which costs moved. So
// what a new function takes is no regression where another one takes as much less.
type kin struct {
	Match
	name string
}

// maxKin bounds the names that are told of kin.
const maxKin = 3

// inLine writes names, not too many.
func inLine(names []string) string {
	text := strings.Join(names[:min(maxKin, len(names))], " + ")
	if left := len(names) - maxKin; left > 0 {
		text += fmt.Sprintf(" + %d more", left)
	}
	return text
}

// Origin says which functions of the base those of a match were.
func (m *Match) Origin() string {
	how := "made from "
	switch {
	case m.Renamed:
		how = "renamed from "
	case len(m.From) < len(m.To):
		how = "divided from "
	case len(m.From) > len(m.To):
		how = "joined from "
	}
	return how + inLine(m.From)
}

// matchOf is the match of kin by their name, nil of other functions.
func (r *Report) matchOf(name string) *Match {
	if k := r.kin[name]; k != nil {
		return &k.Match
	}
	return nil
}

// oneSided reports whether a function that is not too rare is in one of the sets alone; else there is nothing to be
// matched.
func (r *Report) oneSided() bool {
	of := func(s, other *sample) bool {
		for name := range s.functions {
			if other.functions[name] == nil && s.part(name) >= minShare && !slices.Contains(other.set.functions, name) {
				return true
			}
		}
		return false
	}
	return of(r.base, r.new) || of(r.new, r.base)
}

// match finds functions that are the same, though their names differ, and has them compared as one.
func (r *Report) match(draw bool) {
	if !draw && !r.oneSided() {
		return
	}
	if r.base.set.withoutStacks || r.new.set.withoutStacks {
		r.Notes = append(r.Notes, "functions that were renamed or divided are new and gone here: finding them takes more memory than --mem allows")
		return
	}
	tree := r.newTree()
	if draw {
		r.Tree = tree
	}
	r.findKin()
	r.Functions = slices.DeleteFunc(r.Functions, func(f *Function) bool { return r.kin[f.Name] != nil })
	for _, name := range slices.Sorted(maps.Keys(r.kin)) {
		if r.kin[name].name == name {
			r.Functions = append(r.Functions, r.function(name))
		}
	}
}

// findKin makes kin of what was matched, and has both sets count each as one function.
func (r *Report) findKin() {
	r.kin = map[string]*kin{}
	for _, names := range families(r.Matched) {
		k := &kin{Match: Match{From: r.base.having(names), To: r.new.having(names)}}
		k.Renamed = slices.ContainsFunc(r.Matched, func(m Match) bool { return m.Renamed && slices.Equal(m.From, k.From) && slices.Equal(m.To, k.To) })
		k.name = inLine(k.To)
		for _, name := range append(names, k.name) {
			r.kin[name] = k
		}
	}
	if len(r.kin) > 0 {
		r.base.unite(r.kin)
		r.new.unite(r.kin)
	}
}

// families are the names of all matches, those that share a function together.
func families(matches []Match) (all [][]string) {
	for _, m := range matches {
		family := slices.Concat(m.From, m.To, m.below)
		all = slices.DeleteFunc(all, func(other []string) bool {
			related := slices.ContainsFunc(other, func(name string) bool { return slices.Contains(family, name) })
			if related {
				family = append(family, other...)
			}
			return related
		})
		slices.Sort(family)
		all = append(all, slices.Compact(family))
	}
	return all
}

// having are those of some names that a set has.
func (s *sample) having(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.functions[name] == nil })
}

// unite counts kin as one function.
func (s *sample) unite(all map[string]*kin) {
	s.set = s.set.united(all)
	s.functions, s.markers = map[string][]place{}, map[string][]place{}
	for i := range s.set.processes {
		s.find(i)
	}
}

// united is a set in which kin are one function each.
func (s *Set) united(all map[string]*kin) *Set {
	u := newUnion(s, all)
	united := *s
	united.functions, united.processes = u.functions, slices.Clone(s.processes)
	for i := range united.processes {
		united.processes[i].sums = u.sums(&s.processes[i])
	}
	return &united
}

// union sums up kin.
type union struct {
	stacks    *stacks
	functions []string
	of        []calls.Key // the key of kin, by that of a function; 0 is none
	outer     []int32     // by node: the nearest at which kin begin that no caller of it is of, 0 is none
}

func newUnion(s *Set, all map[string]*kin) *union {
	u := &union{&s.stacks, slices.Clone(s.functions), make([]calls.Key, len(s.functions)), make([]int32, len(s.stacks.caller))}
	keys := map[*kin]calls.Key{}
	for key, name := range s.functions {
		k := all[name]
		if k == nil {
			continue
		}
		if keys[k] == 0 {
			keys[k] = calls.Key(len(u.functions))
			u.functions = append(u.functions, k.name)
		}
		u.of[key] = keys[k]
	}
	for node := 1; node < len(u.outer); node++ {
		u.outer[node] = u.outer[s.stacks.caller[node]]
		if of := u.of[s.stacks.key[node]]; of != 0 && !slices.Contains(u.path(u.outer[node]), of) {
			u.outer[node] = int32(node)
		}
	}
	return u
}

// path lists the kin that a node and its callers are of, from one of outer on.
func (u *union) path(outer int32) (all []calls.Key) {
	for outer != 0 {
		all = append(all, u.of[u.stacks.key[outer]])
		outer = u.outer[u.stacks.caller[outer]]
	}
	return all
}

// sums are those of a process, with kin as one function.
func (u *union) sums(p *process) (sums []calls.Sum) {
	kin := make([]calls.Sum, len(u.functions)-len(u.of))
	for _, sum := range p.sums {
		of := u.of[sum.Key]
		if of == 0 {
			sums = append(sums, sum)
			continue
		}
		kin[int(of)-len(u.of)].Self.Add(sum.Self)
	}
	for _, own := range p.own {
		for _, of := range u.path(u.outer[own.node]) {
			kin[int(of)-len(u.of)].Total.Add(own.self)
		}
	}
	for i, sum := range kin {
		if sum.Key = calls.Key(len(u.of) + i); sum.Total != (calls.Amount{}) {
			sums = append(sums, sum)
		}
	}
	return sums
}
