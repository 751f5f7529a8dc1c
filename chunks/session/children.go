package session

import (
	"slices"

	"gprof/rawformat"
)

// maxKept is how many children that ended cleanly have a floor: the newest. A program
// that starts hundreds of short ones should not have its own floor divided by hundreds.
const maxKept = 32

// maxLine is how many ancestors are looked at. The page may be damaged, and name a process
// as its own ancestor.
const maxLine = 16

// heed returns the newest children that ended cleanly and have not expired, the newest
// first, and says of the others why they have. As with Gecko's exit profiles a child expires:
//
//   - when its parent holds nothing any more from the time when the child ended, or
//   - when its parent is gone: nothing is left of it, or it has ended and is not kept
//     itself, as a protected crash or as a child that has not expired.
func (b *budget) heed() []*account {
	for i := range b.accounts {
		a := &b.accounts[i]
		if !a.isChild() {
			continue
		}
		if a.why = b.expired(a); a.why == "" {
			b.children = insertNewest(b.children, a)
		}
	}
	return b.children
}

// insertNewest inserts an account in those that ended last, the last first. That is cheaper
// than to sort all, as hardly any gets in.
func insertNewest(newest []*account, a *account) []*account {
	later := func(x, y *account) int { return crashOrder(y, x) }
	if n := len(newest); n == maxKept {
		if later(a, newest[n-1]) > 0 {
			return newest
		}
		newest = newest[:n-1]
	}
	i, _ := slices.BinarySearchFunc(newest, a, later)
	return slices.Insert(newest, i, a)
}

// find returns the account of an instance, nil if there is none. Most children have one
// parent, or a few: an index of all accounts would cost as much as the rest of a survey.
func (b *budget) find(instance uint64) *account {
	if b.sought == instance {
		return b.found
	}
	b.sought, b.found = instance, nil
	if b.scans++; b.scans <= maxScans {
		for i := range b.accounts {
			if b.accounts[i].Instance == instance {
				b.found = &b.accounts[i]
				break
			}
		}
		return b.found
	}
	if b.scans == maxScans+1 {
		b.index()
	}
	b.found = b.byID[instance]
	return b.found
}

const maxScans = 4

// index has accounts found by instance.
func (b *budget) index() {
	if b.byID == nil {
		b.byID = make(map[uint64]*account)
	}
	clear(b.byID)
	for i := range b.accounts {
		b.byID[b.accounts[i].Instance] = &b.accounts[i]
	}
}

// expired says why a child has expired, nothing if it has not.
func (b *budget) expired(a *account) string {
	for range maxLine {
		parent := b.find(a.Parent)
		switch {
		case parent == nil:
			return rawformat.MadeWayOrphan
		case a.Mark < parent.Start:
			return rawformat.MadeWayExpired
		case parent.Kind == rawformat.SlotLive || parent.worthy:
			return ""
		case !parent.isChild():
			return rawformat.MadeWayOrphan
		}
		a = parent
	}
	return rawformat.MadeWayOrphan
}

func (a *account) isChild() bool { return a.Kind == rawformat.SlotChild }

// keep guards children, the newest first, beside so many other processes that have a
// floor, and returns that floor. There are as many as each can hold two chunks. One of
// these is not in its guard, because up to a chunk more than the guard remains.
func (b *budget) keep(children []*account, others int64) (floor int64) {
	n := int64(len(children))
	for ; ; n-- {
		shares := min(n, others)
		floor = b.limit / 2 / max(1, others+shares)
		if n == 0 {
			return floor
		}
		if each := floor * shares / n; each >= 2*children[0].Chunk {
			for _, a := range children[:n] {
				a.guard = max(0, each-a.Chunk)
			}
			return floor
		}
	}
}

// rank orders remains by their value, the least first.
func (a *account) rank() int {
	switch {
	case a.why != "":
		return 0
	case a.guard == 0:
		return 1
	}
	return 2
}
