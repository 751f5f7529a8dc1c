package chance

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Values as printed tables have them.
func TestStudent(t *testing.T) {
	for _, tt := range []struct{ freedom, p, want float64 }{
		{1, 0.05, 12.706}, {2, 0.05, 4.303}, {5, 0.05, 2.571}, {10, 0.01, 3.169}, {30, 0.05, 2.042}, {1000, 0.05, 1.962}, {4, 0.001, 8.610},
	} {
		if got := Quantile(tt.p, tt.freedom); math.Abs(got-tt.want) > 0.0015*tt.want {
			t.Errorf("%g degrees of freedom, %g: %.3f, want %.3f", tt.freedom, tt.p, got, tt.want)
		}
		if got := Tail(tt.want, tt.freedom); math.Abs(got-tt.p) > 0.002*tt.p {
			t.Errorf("tail of %g at %g is %.5f, want %g", tt.want, tt.freedom, got, tt.p)
		}
	}
	if Tail(0, 5) != 1 || Tail(math.Inf(1), 5) != 0 {
		t.Errorf("tails of nothing and all: %g, %g", Tail(0, 5), Tail(math.Inf(1), 5))
	}
}

// Values as printed tables of Wilcoxon's test have them, and as many as are normal.
func TestSignedRank(t *testing.T) {
	ranks := func(n int, below ...int) []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = float64(i + 1)
		}
		for _, i := range below {
			d[i-1] *= -1
		}
		return d
	}
	for _, tt := range []struct {
		d    []float64
		want float64
	}{
		{ranks(5), 0.0625}, {ranks(6), 0.03125}, {ranks(8, 3), 0.0390625}, {ranks(10, 8), 0.048828125}, {ranks(10, 9), 0.064453125},
		{[]float64{0, 0, 1, -1}, 1}, {[]float64{1, 1, 1, 1, 1, 1, -1}, 0.125}, {nil, 1},
	} {
		if got := SignedRank(tt.d); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v: %.6f, want %.6f", tt.d, got, tt.want)
		}
	}
	for _, n := range []int{maxExact, maxExact + 1} { // both ways agree at their border
		if got := SignedRank(ranks(n, n, n-1)); math.Abs(got-0.0105) > 0.003 {
			t.Errorf("of %d: %.4f", n, got)
		}
	}
}

// The middle does not follow one that is far out, and the interval holds what the test does not refuse.
func TestMiddle(t *testing.T) {
	d := []float64{-2, -1, 0.5, 1, 1.5, 2, 3, 4, 5, 1e4}
	middle, low, high := Middle(d, Unlikely)
	if middle < 1.5 || middle > 2.5 || low > 0.01 || low < -2 || high < 4 {
		t.Errorf("%g (%g to %g)", middle, low, high)
	}
	at := func(v float64) float64 {
		moved := make([]float64, len(d))
		for i := range d {
			moved[i] = d[i] - v
		}
		return SignedRank(moved)
	}
	if at(low-1e-3) > Unlikely || at(low+1e-3) <= Unlikely || at(high+1e-3) > Unlikely || at(high-1e-3) <= Unlikely {
		t.Errorf("the interval is %g to %g: %.4f, %.4f, %.4f, %.4f", low, high, at(low-1e-6), at(low+1e-6), at(high-1e-6), at(high+1e-6))
	}
	if _, low, high = Middle([]float64{1, 2, 3, 4, 5}, Unlikely); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("of five: %g to %g", low, high)
	}
	if middle, low, high = Middle(make([]float64, 9), Unlikely); math.Abs(middle) > 1e-9 {
		t.Errorf("of nothing but zeros: %g (%g to %g)", middle, low, high)
	}
}

// Neighbours that are alike say less than as many numbers would: there are not more findings where there is nothing to be
// found, and hardly fewer of independent numbers.
func TestNeighbours(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, alike, more float64) []float64 {
		d, before := make([]float64, n), random.NormFloat64()
		for i := range d {
			before = alike*before + math.Sqrt(1-alike*alike)*random.NormFloat64()
			d[i] = before + more
		}
		return d
	}
	const runs, n = 1000, 400
	for _, tt := range []struct {
		alike, more float64
		least, most int
	}{{0, 0, 25, 75}, {0.4, 0, 25, 100}, {0, 0.162, 850, runs}} { // the last has 90 % power by itself
		found := 0
		for range runs {
			if SignedRank(draw(n, tt.alike, tt.more)) <= Unlikely {
				found++
			}
		}
		if found < tt.least || found > tt.most {
			t.Errorf("correlation %g, %+g: found in %d of %d, want %d to %d", tt.alike, tt.more, found, runs, tt.least, tt.most)
		}
	}
}
