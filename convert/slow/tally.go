package slow

import (
	"math"

	"gprof/convert/internal/chance"
)

// ratio sums up what intervals have of something, and so which share of their time that is. The error of
// the share is that of drawing other intervals: each is one observation, whatever its length.
type ratio struct {
	sum, squares, products float64 // of the times, and with the durations
	in                     int64   // intervals that have any
	exact, estimated       int64
}

func (r *ratio) add(ns, duration float64) {
	r.sum += ns
	r.squares += ns * ns
	r.products += ns * duration
	r.in++
}

// share is the share, and its variance.
func (r *ratio) share(g *tally) (share, variance float64) {
	if g.wall == 0 {
		return 0, 0
	}
	share = r.sum / g.wall
	n := float64(g.Intervals)
	if n < 2 {
		return share, 0
	}
	left := r.squares - 2*share*r.products + share*share*g.squares
	return share, max(0, left) / (g.wall * g.wall) * n / (n - 1)
}

// tally is a group of intervals.
type tally struct {
	Group
	wall, squares float64
	parts         [numParts]ratio
	errors        [numParts]float64 // variances of what is estimated
	causes        map[int32]*ratio
	wakers        map[wakerKey]*Waker
}

type wakerKey struct{ cause, by int32 }

// fewest is how few intervals of a group are judged.
const fewest = 3

// differ is how likely it is that the shares of something differ as much by chance; 1 if that can't be judged.
func differ(a, b *ratio, x, y *tally) float64 {
	if x.Intervals < fewest || y.Intervals < fewest {
		return 1
	}
	s, v := a.share(x)
	t, w := b.share(y)
	if s == t {
		return 1
	}
	if v+w == 0 {
		return 0
	}
	n, m := float64(x.Intervals-1), float64(y.Intervals-1)
	freedom := (v + w) * (v + w) / (v*v/n + w*w/m)
	return chance.Tail((s-t)/math.Sqrt(v+w), freedom)
}
