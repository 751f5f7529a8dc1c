package compare

import (
	"cmp"
	"math"
	"slices"

	"gprof/convert/internal/chance"
)

// minProcesses is how many processes a set must have for its spread to mean something.
const minProcesses = 3

// Change is a figure in both sets.
type Change struct {
	Base Estimate `json:"base"`
	New  Estimate `json:"new"`

	// OnlyIn is "base" or "new" if the other set lacks what this is a figure of; "" if both have it, though a figure may
	// be 0, as the own share of a function that only calls others.
	OnlyIn string `json:"only_in,omitempty"`

	// Relative is New/Base-1; Low and High bound its 95 % interval. They are nil if there is none:
	// Base is 0 or lost in noise, or there are too few processes.
	Relative *float64 `json:"relative"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`

	Judged bool    `json:"judged"` // there are enough processes
	P      float64 `json:"p"`      // probability of such a difference by chance; 1 if not judged
	Found  bool    `json:"found"`  // more than noise, given how much was compared

	freedom float64
}

// newChange compares two figures; each is of that many processes.
func newChange(base, new Estimate, processes int) Change {
	c := Change{Base: base, New: new, P: 1}
	if base.Value > 0 && !new.none {
		c.Relative = pointer(new.Value/base.Value - 1)
	}
	c.freedom = welch(base, new)
	if c.Judged = processes >= minProcesses && c.freedom > 0 && !base.none && !new.none; !c.Judged {
		return c
	}
	c.P = c.chance(new.Value-base.Value, math.Hypot(base.Error, new.Error))
	c.Low, c.High = fieller(base, new, chance.Quantile(chance.Unlikely, c.freedom))
	return c
}

func pointer(v float64) *float64 { return &v }

// Difference is New less Base, and how far that may be off with 95 %: 0 if the change was not judged.
func (c *Change) Difference() (by, off float64) {
	if c.Judged && c.freedom > 0 {
		off = math.Hypot(c.Base.Error, c.New.Error) * chance.Quantile(chance.Unlikely, c.freedom)
	}
	return c.difference(), off
}

// noteOnly notes with changes which of the sets have what they are of.
func noteOnly(inBase, inNew bool, changes ...*Change) {
	only := ""
	switch {
	case inNew && !inBase:
		only = "new"
	case inBase && !inNew:
		only = "base"
	}
	for _, c := range changes {
		c.OnlyIn = only
	}
}

// chance is the probability of being as far from 0 with such an error.
func (c *Change) chance(difference, err float64) float64 {
	switch {
	case difference == 0:
		return 1
	case err == 0:
		return 0
	}
	return chance.Tail(difference/err, c.freedom)
}

// welch is the degrees of freedom of a difference by Welch and Satterthwaite. A figure that is 0 in
// one set has the other's.
func welch(a, b Estimate) float64 {
	x, y := a.Error*a.Error, b.Error*b.Error
	switch {
	case a.freedom == 0 || b.freedom == 0:
		return max(a.freedom, b.freedom)
	case x+y == 0:
		return min(a.freedom, b.freedom)
	}
	return (x + y) * (x + y) / (x*x/a.freedom + y*y/b.freedom)
}

// fieller is the interval of new/base-1, given the errors a value may be off; nil where it is
// unbounded.
func fieller(base, new Estimate, far float64) (low, high *float64) {
	b, n := far*base.Error, far*new.Error
	a := base.Value*base.Value - b*b
	if a <= 0 {
		return nil, nil
	}
	middle := base.Value * new.Value / a
	width := math.Sqrt(max(0, middle*middle-(new.Value*new.Value-n*n)/a))
	return pointer(middle - width - 1), pointer(middle + width - 1)
}

// find marks the changes that are more than noise, by Benjamini and Hochberg's procedure.
func find(changes []*Change) {
	order := byChance(changes)
	var ps []float64
	for _, c := range order {
		ps = append(ps, c.P)
	}
	limit := chance.Limit(ps)
	for _, c := range order {
		c.Found = c.P <= limit
	}
}

// findSurely marks the changes that are more than noise, by Holm's procedure: with such a chance it marks
// none that is noise.
func findSurely(changes []*Change) {
	order := byChance(changes)
	for i, c := range order {
		if c.P > chance.Unlikely/float64(len(order)-i) {
			return
		}
		c.Found = true
	}
}

// byChance are the judged changes, the least likely by chance first.
func byChance(changes []*Change) []*Change {
	order := slices.DeleteFunc(changes, func(c *Change) bool { return !c.Judged })
	slices.SortStableFunc(order, func(a, b *Change) int { return cmp.Compare(a.P, b.P) })
	return order
}
