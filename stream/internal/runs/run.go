// Package runs keeps sorted runs of encoded rows, for an external merge sort: blocks in
// memory, and those that are spilled in one temporary file.
package runs

import (
	"cmp"
	"errors"
	"slices"
)

// ErrDamaged says that the spill file does not hold what was written to it.
var ErrDamaged = errors.New("spill file is damaged")

// Key is what rows are ordered by.
type Key struct {
	Time  int64
	Index uint64
}

// Compare orders keys.
func (k Key) Compare(l Key) int {
	if k.Time != l.Time {
		return cmp.Compare(k.Time, l.Time)
	}
	return cmp.Compare(k.Index, l.Index)
}

// Less reports whether k comes before l.
func (k Key) Less(l Key) bool {
	return k.Time < l.Time || k.Time == l.Time && k.Index < l.Index
}

// Run is sorted rows: blocks in the spill file, then blocks in memory.
type Run struct {
	First, Last Key
	spilled     extents
	held        chain
	heldFirst   Key // of the rows in memory
}

// Extend makes room in r for rows from first to last, which follow those that it has.
func (r *Run) Extend(first, last Key) {
	if r.held.first == 0 {
		r.heldFirst = first
	}
	r.Last = last
}

// Held is the part of the run that is in memory, as a run of its own, and how many
// bytes its blocks have; 0 if there is none.
func (r *Run) Held() (part Run, bytes int64) {
	return Run{First: r.heldFirst, Last: r.Last, held: r.held}, r.held.size
}

// DropHeld leaves of the runs what is spilled.
func DropHeld(all []Run) []Run {
	all = slices.DeleteFunc(all, func(r Run) bool { return r.spilled.first.size == 0 })
	for i := range all {
		all[i].held = chain{}
	}
	return all
}

// Overlap is how many of the runs are open at once at most when they are merged. It
// sorts them by their first rows.
func Overlap(all []Run) int {
	slices.SortFunc(all, func(a, b Run) int { return a.First.Compare(b.First) })
	ends := make([]Key, len(all))
	for i, r := range all {
		ends[i] = r.Last
	}
	slices.SortFunc(ends, Key.Compare)
	most, closed := 0, 0
	for i, r := range all {
		for ends[closed].Compare(r.First) < 0 {
			closed++
		}
		most = max(most, i+1-closed)
	}
	return most
}
