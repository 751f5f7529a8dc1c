package chance

import (
	"math"
	"slices"
)

// SignedRank is how likely it is that numbers which are as often above 0 as below lie as much to one side
// as these do: Wilcoxon's signed-rank test, to either side. Numbers far out count no more than their
// rank, so a few wild ones do not decide. Of fewer than six it is never below [Unlikely]. Numbers are in the order in which they
// were measured: neighbours that are alike count for less.
func SignedRank(d []float64) float64 { return newDifferences(d).chance(0) }

// maxExact is the most numbers of which all signs are tried; of more, sums of ranks are normal enough.
const maxExact = 20

// differences are numbers whose ranks by how far they are from a point can be told again and again: those above it and
// those below it are in order already.
type differences struct {
	sorted []float64
	ranks  []float64 // scratch
	alike  float64   // see alike
}

func newDifferences(d []float64) *differences {
	sorted := slices.Sorted(slices.Values(d))
	return &differences{sorted, make([]float64, 0, len(d)), alike(d, sorted)}
}

// maxLag is how far apart numbers are at most that may be alike because they were measured one soon after the other, and
// lagShare the share of them all.
const (
	maxLag   = 20
	lagShare = 1.0 / 40
)

// alike is how much more the sum of numbers varies than if each were independent of its neighbours, 1 at the least: by the
// correlations of their ranks, those of far neighbours weighted less, as Newey and West do.
func alike(d, sorted []float64) float64 {
	n, lags := len(d), min(maxLag, int(lagShare*float64(len(d))))
	if lags == 0 {
		return 1
	}
	ranks := make([]float64, n)
	for i, v := range d {
		at, _ := slices.BinarySearch(sorted, v)
		ranks[i] = float64(at) - float64(n-1)/2
	}
	square, sum := 0.0, 0.0
	for i, r := range ranks {
		square += r * r
		for lag := 1; lag <= min(lags, i); lag++ {
			sum += (1 - float64(lag)/float64(lags+1)) * r * ranks[i-lag]
		}
	}
	return max(1, 1+2*sum/square)
}

// chance is [SignedRank] of the numbers less at.
func (d *differences) chance(at float64) float64 {
	above, all, ranks := d.signed(at)
	far := math.Abs(above - all/2)
	if far == 0 {
		return 1
	}
	if len(ranks) <= maxExact {
		return exact(ranks, far)
	}
	square := 0.0
	for _, r := range ranks {
		square += r * r
	}
	return math.Erfc(max(0, far-0.5) / math.Sqrt(d.alike*square/4) / math.Sqrt2)
}

// signed ranks numbers by how far they are from a point, equal ones alike and those that are there not at all: the
// sum of those above it, of all, and each, valid until the next call.
func (d *differences) signed(at float64) (above, all float64, ranks []float64) {
	ranks = d.ranks[:0]
	high, _ := slices.BinarySearchFunc(d.sorted, at, func(v, at float64) int {
		if v-at > 0 {
			return 1
		}
		return -1
	})
	low := high - 1
	for low >= 0 && d.sorted[low]-at == 0 {
		low--
	}
	for low >= 0 || high < len(d.sorted) {
		far := math.Inf(1)
		if low >= 0 {
			far = at - d.sorted[low]
		}
		if high < len(d.sorted) {
			far = min(far, d.sorted[high]-at)
		}
		before, over := len(ranks), 0
		for ; low >= 0 && at-d.sorted[low] == far; low-- {
			ranks = append(ranks, 0)
		}
		for ; high < len(d.sorted) && d.sorted[high]-at == far; high++ {
			ranks, over = append(ranks, 0), over+1
		}
		rank := float64(before+1+len(ranks)) / 2
		for i := range ranks[before:] {
			ranks[before+i] = rank
		}
		above, all = above+rank*float64(over), all+rank*float64(len(ranks)-before)
	}
	return above, all, ranks
}

// exact is the share of all signs that give a sum at least as far from the middle. Ranks are halves at the
// least.
func exact(ranks []float64, far float64) float64 {
	ways, all := []float64{1}, 0
	for _, r := range ranks {
		step := int(2 * r)
		next := make([]float64, all+step+1)
		for sum, n := range ways {
			next[sum] += n / 2
			next[sum+step] += n / 2
		}
		ways, all = next, all+step
	}
	p := 0.0
	for sum, n := range ways {
		if math.Abs(float64(sum)-float64(all)/2) >= 2*far {
			p += n
		}
	}
	return min(1, p)
}

// Middle is the number from which others lie as much above as below by their ranks, Hodges and Lehmann's
// estimate, and the interval of those from which SignedRank finds them no less likely than p: infinite if they are too
// few.
func Middle(d []float64, p float64) (middle, low, high float64) {
	all := newDifferences(d)
	first, last := all.sorted[0], all.sorted[len(d)-1]
	middle = border(first, last, func(at float64) bool {
		above, whole, _ := all.signed(at)
		return above > whole/2
	})
	likely := func(at float64) bool { return all.chance(at) > p }
	low, high = math.Inf(-1), math.Inf(1)
	if far := last - first + 1; !likely(first - far) {
		low = border(first-far, middle, func(at float64) bool { return !likely(at) })
		high = border(middle, last+far, likely)
	}
	return middle, low, high
}

// border is where a property that holds at first, if anywhere, ends before last.
func border(first, last float64, holds func(float64) bool) float64 {
	for range 50 {
		middle := first + (last-first)/2
		if holds(middle) {
			first = middle
		} else {
			last = middle
		}
	}
	return first + (last-first)/2
}
