package compare

import (
	"cmp"
	"math"
	"slices"
)

// minProcesses is how many processes a set must have for its spread to mean something.
const minProcesses = 3

// unlikely is the significance level: one finding in twenty is false.
const unlikely = 0.05

// Change is a figure in both sets.
type Change struct {
	Base Estimate `json:"base"`
	New  Estimate `json:"new"`

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
	c.Low, c.High = fieller(base, new, quantile(unlikely, c.freedom))
	return c
}

func pointer(v float64) *float64 { return &v }

// chance is the probability of being as far from 0 with such an error.
func (c *Change) chance(difference, err float64) float64 {
	switch {
	case difference == 0:
		return 1
	case err == 0:
		return 0
	}
	return tail(difference/err, c.freedom)
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
	for k := len(order); k > 0; k-- {
		if order[k-1].P <= unlikely*float64(k)/float64(len(order)) {
			for _, c := range order[:k] {
				c.Found = true
			}
			return
		}
	}
}

// findSurely marks the changes that are more than noise, by Holm's procedure: with such a chance it marks
// none that is noise.
func findSurely(changes []*Change) {
	order := byChance(changes)
	for i, c := range order {
		if c.P > unlikely/float64(len(order)-i) {
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

// tail is how likely it is that a number of Student's distribution lies as far
// from 0 as t or farther, to either side.
func tail(t, freedom float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return beta(freedom/2, 0.5, freedom/(freedom+t*t))
}

// quantile is how far from 0 numbers lie, to either side, that are as unlikely
// as p.
func quantile(p, freedom float64) float64 {
	low, high := 0.0, 1.0
	for tail(high, freedom) > p {
		low, high = high, 2*high
	}
	for range 60 {
		middle := (low + high) / 2
		if tail(middle, freedom) > p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// beta is the regularized incomplete beta function I_x(a, b).
func beta(a, b, x float64) float64 {
	if x <= 0 || x >= 1 {
		return min(max(x, 0), 1)
	}
	if x > (a+1)/(a+b+2) {
		return 1 - beta(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a * fraction(a, b, x)
}

// fraction is the continued fraction of the incomplete beta function, by Lentz's
// method.
func fraction(a, b, x float64) float64 {
	const tiny, enough = 1e-300, 1e-14
	f, c, d := 1.0, 1.0, 0.0
	for i := range 500 {
		m := float64(i / 2)
		var n float64
		switch {
		case i == 0:
			n = 1
		case i%2 == 0:
			n = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			n = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 + n*d
		if math.Abs(d) < tiny {
			d = tiny
		}
		d = 1 / d
		c = 1 + n/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		f *= c * d
		if math.Abs(1-c*d) < enough {
			break
		}
	}
	return f - 1
}
