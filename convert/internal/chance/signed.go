package chance

import (
	"cmp"
	"math"
	"slices"
)

// SignedRank is how likely it is that numbers which are as often above 0 as below lie as much to one side
// as these do: Wilcoxon's signed-rank test, to either side. Numbers far out count no more than their
// rank, so a few wild ones do not decide. Of fewer than six it is never below [Unlikely].
func SignedRank(d []float64) float64 {
	above, all, ranks := signed(d)
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
	return math.Erfc(max(0, far-0.5) / math.Sqrt(square/4) / math.Sqrt2)
}

// maxExact is the most numbers of which all signs are tried; of more, sums of ranks are normal enough.
const maxExact = 20

// signed ranks numbers by how far they are from 0, equal ones alike and those that are 0 not at all: the sum
// of those above 0, of all, and each.
func signed(d []float64) (above, all float64, ranks []float64) {
	sorted := slices.DeleteFunc(slices.Clone(d), func(v float64) bool { return v == 0 })
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	for i := 0; i < len(sorted); {
		end := i + 1
		for end < len(sorted) && math.Abs(sorted[end]) == math.Abs(sorted[i]) {
			end++
		}
		rank := float64(i+1+end) / 2
		for ; i < end; i++ {
			ranks, all = append(ranks, rank), all+rank
			if sorted[i] > 0 {
				above += rank
			}
		}
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
	first, last := slices.Min(d), slices.Max(d)
	from := func(at float64) []float64 {
		moved := make([]float64, len(d))
		for i, v := range d {
			moved[i] = v - at
		}
		return moved
	}
	middle = border(first, last, func(at float64) bool {
		above, all, _ := signed(from(at))
		return above > all/2
	})
	likely := func(at float64) bool { return SignedRank(from(at)) > p }
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
