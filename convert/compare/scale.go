package compare

import (
	"cmp"
	"slices"
)

// Measure is what costs are measured by: the functions that did not change. Of sets in which no such
// majority is found it is everything, and Functions is 0.
type Measure struct {
	Functions int     `json:"functions"`
	Share     float64 `json:"share"` // of what the base used
}

// maxVote bounds how much one function has to say on what did not change: of a function that takes
// half of all time it is not known whether it grew, or all others fell.
const maxVote = 0.05

// measure chooses the measure.
//
//  1. The middle of all ratios new/base of functions that both sets have, each with a vote of its
//     share, is that of what did not change.
//  2. The functions whose interval holds this ratio, or is unbounded, are the measure, if they are the
//     majority.
func (b *builder) measure() {
	b.base.ref, b.new.ref, b.unit = b.base.all.sum, b.new.all.sum, 1
	type voter struct {
		f     *Function
		votes float64
	}
	var voters []voter
	all := 0.0
	for _, f := range b.report.Functions {
		if f.Self.Base.Value > 0 && f.Self.New.Value > 0 {
			votes := min(maxVote, (f.Self.Base.Value+f.Self.New.Value)/2)
			voters = append(voters, voter{f, votes})
			all += votes
		}
	}
	slices.SortFunc(voters, func(x, y voter) int {
		return cmp.Or(cmp.Compare(x.f.Self.ratio(), y.f.Self.ratio()), cmp.Compare(x.f.Name, y.f.Name))
	})
	middle, passed := 0.0, 0.0
	for _, v := range voters {
		if middle, passed = v.f.Self.ratio(), passed+v.votes; passed >= all/2 {
			break
		}
	}
	steady, votes := []string{}, 0.0
	for _, v := range voters {
		if c := &v.f.Self; c.Judged && (c.Low == nil || *c.Low <= middle-1 && middle-1 <= *c.High) {
			steady, votes = append(steady, v.f.Name), votes+v.votes
		}
	}
	if votes <= all/2 {
		return
	}
	base, new := b.base.sum(b.base.selfCells(steady)), b.new.sum(b.new.selfCells(steady))
	if base.whole <= 0 || new.whole <= 0 {
		return
	}
	b.base.ref, b.new.ref, b.unit = base, new, base.whole/b.base.all.whole
	b.Measure = Measure{len(steady), b.unit}
}

func (c *Change) ratio() float64 { return c.New.Value / c.Base.Value }

// selfCells are those of what some functions used by themselves.
func (s *sample) selfCells(names []string) (cells []cell) {
	for _, name := range names {
		cells = append(cells, s.cellsOf(name, selfOf)...)
	}
	return cells
}
