package facts

import "math"

// Change is where a series changed most: from the mean of the steps before to that of those from
// At on.
type Change struct {
	At            int // step
	Before, After float64
	Clear         bool // beyond how much the steps differ from each other
}

// least is how many steps must lie on each side of a change: one alone may be chance.
const least = 2

// clear is how many standard errors a change must be. The best of twenty places to cut noise has
// about three, and steps of a real program depend on each other.
const clear = 4.5

// ChangeOf finds the change of a series of rates or levels. Steps that are not known are passed over:
// known may be nil. The history counts as one step, if there is one.
func (l Timeline) ChangeOf(s *Series, known *[Steps + 1]bool) Change {
	return l.change(s, known, func(*Change) bool { return true })
}

// RiseOf finds the clear change by which a series became most larger, at least that many times as large. Clear is
// false if there is none.
func (l Timeline) RiseOf(s *Series, known *[Steps + 1]bool, factor float64) Change {
	return l.change(s, known, func(c *Change) bool { return c.Clear && c.After > c.Before && c.After >= factor*c.Before })
}

// change finds the change, of those that will do, that explains most of how steps differ.
func (l Timeline) change(s *Series, known *[Steps + 1]bool, will func(*Change) bool) (best Change) {
	var steps []int
	for step := range s {
		if l.Length(step) > 0 && (known == nil || known[step]) {
			steps = append(steps, step)
		}
	}
	most := -1.0
	for cut := least; cut <= len(steps)-least; cut++ {
		c := changeAt(s, steps, cut)
		n, m := float64(cut), float64(len(steps)-cut)
		if between := (c.After - c.Before) * (c.After - c.Before) * n * m / (n + m); between > most && will(&c) {
			best, most = c, between
		}
	}
	return best
}

// changeAt is the change before a step.
func changeAt(s *Series, steps []int, cut int) Change {
	before, after := meanOf(s, steps[:cut]), meanOf(s, steps[cut:])
	noise := standardError(squares(s, steps[:cut], before), squares(s, steps[cut:], after), float64(cut), float64(len(steps)-cut))
	return Change{At: steps[cut], Before: before, After: after,
		Clear: math.Abs(after-before) > clear*noise || apart(s, steps[:cut], steps[cut:]) >= apartLeast}
}

// apartLeast is the share of pairs of a step before and one after that must differ in the same
// direction, where single steps differ too much from each other for a mean.
const apartLeast = 0.95

// apart is the share of pairs of steps that differ in the direction in which most do; 0 if there are too
// few to tell.
func apart(s *Series, before, after []int) float64 {
	if len(before) < 3 || len(after) < 3 {
		return 0
	}
	more, less := 0, 0
	for _, b := range before {
		for _, a := range after {
			switch {
			case s[a] > s[b]:
				more++
			case s[a] < s[b]:
				less++
			}
		}
	}
	return float64(max(more, less)) / float64(len(before)*len(after))
}

// standardError is that of the difference of two means, by Welch: sides may differ in noise. Of few steps,
// which may be equal by chance, it is at least what it would be if the sides had the same noise.
func standardError(before, after, n, m float64) float64 {
	pooled := math.Sqrt((before + after) / (n + m - 2) * (1/n + 1/m))
	welch := math.Sqrt(before/(n-1)/n + after/(m-1)/m)
	if min(n, m) < 4 {
		return max(pooled, welch)
	}
	return welch
}

func meanOf(s *Series, steps []int) (sum float64) {
	for _, step := range steps {
		sum += s[step]
	}
	return sum / float64(max(1, len(steps)))
}

func squares(s *Series, steps []int, mean float64) (sum float64) {
	for _, step := range steps {
		sum += (s[step] - mean) * (s[step] - mean)
	}
	return sum
}
