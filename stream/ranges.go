package stream

import (
	"cmp"
	"slices"
)

// Range is positions in the recording of a process: from From up to but not including To.
type Range struct{ From, To uint64 }

// Ranges are in ascending order and don't touch.
type Ranges []Range

// Has reports whether a position is in r.
func (r Ranges) Has(index uint64) bool {
	i, exact := slices.BinarySearchFunc(r, index, func(r Range, index uint64) int { return cmp.Compare(r.From, index) })
	return exact || i > 0 && index < r[i-1].To
}

// Union returns the union of ranges, which may be in any order and overlap.
func Union(ranges ...Range) (all Ranges) {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	for _, r := range ranges {
		switch last := len(all) - 1; {
		case r.From >= r.To:
		case last >= 0 && all[last].To >= r.From:
			all[last].To = max(all[last].To, r.To)
		default:
			all = append(all, r)
		}
	}
	return all
}

// Minus returns the positions that are in r and not in o.
func (r Ranges) Minus(o Ranges) (rest Ranges) {
	for _, part := range r {
		for len(o) > 0 && o[0].To <= part.From {
			o = o[1:]
		}
		for _, hole := range o {
			if hole.From >= part.To {
				break
			}
			if part.From < hole.From {
				rest = append(rest, Range{part.From, hole.From})
			}
			part.From = min(hole.To, part.To)
		}
		if part.From < part.To {
			rest = append(rest, part)
		}
	}
	return rest
}
