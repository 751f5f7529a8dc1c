// Package chance says how likely it is that a difference came about by chance.
package chance

import (
	"math"
	"slices"
)

// Unlikely is the significance level: one finding in twenty is false.
const Unlikely = 0.05

// Limit is the largest of so many probabilities that is a finding at that level, by Benjamini and Hochberg's
// procedure; below 0 if none is. It sorts them.
func Limit(p []float64) float64 {
	slices.Sort(p)
	for k := len(p); k > 0; k-- {
		if p[k-1] <= Unlikely*float64(k)/float64(len(p)) {
			return p[k-1]
		}
	}
	return -1
}

// Tail is how likely it is that a number of Student's distribution lies as far
// from 0 as t or farther, to either side.
func Tail(t, freedom float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return beta(freedom/2, 0.5, freedom/(freedom+t*t))
}

// Quantile is how far from 0 numbers lie, to either side, that are as unlikely
// as p.
func Quantile(p, freedom float64) float64 {
	low, high := 0.0, 1.0
	for Tail(high, freedom) > p {
		low, high = high, 2*high
	}
	for range 60 {
		middle := (low + high) / 2
		if Tail(middle, freedom) > p {
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
