// Package runs keeps sorted runs of encoded rows, for an external merge sort: blocks in
// memory, and others in one temporary file.
package runs

import (
	"cmp"
	"errors"
	"slices"
)

// ErrDamaged says that the spill file does not hold what was written to it.
var ErrDamaged = errors.New("spill file is damaged")

// Key is the sort key of a row.
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
	Unordered   bool // blocks may come back in any order
	spilled     extentList
	held        chain
	heldFirst   Key // of the rows in memory
}

// Extend notes that rows from first to last will follow those of r.
func (r *Run) Extend(first, last Key) {
	if r.held.first == 0 {
		r.heldFirst = first
	}
	r.Last = last
}

// Held is the part of the run that is in memory, as a run of its own, and the size of its
// blocks, 0 if there are none.
func (r *Run) Held() (part Run, bytes int64) {
	return Run{First: r.heldFirst, Last: r.Last, Unordered: r.Unordered, held: r.held}, r.held.size
}

// DropHeld leaves only the spilled parts of runs.
func DropHeld(all []Run) []Run {
	all = slices.DeleteFunc(all, func(r Run) bool { return r.spilled.first.size == 0 })
	for i := range all {
		all[i].Drop()
	}
	return all
}

// Drop leaves only the spilled part of the run.
func (r *Run) Drop() { r.held = chain{} }

// Overlap is how many of the runs must be open at the same time, at most, to merge them.
// It sorts them by their first rows.
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
