package session

import (
	"cmp"
	"slices"
	"time"

	"gprof/rawformat"
)

// budget says what each process of a session holds at one moment, and chooses what is to
// be discarded. It is the global controller of Gecko's profiler with two differences:
// each process works it out for itself, and none falls below its guard.
//
// Its accounting is optimistic: what a process was asked for counts as gone. The next
// publication of the process says whether it is.
type budget struct {
	limit    int64
	sum      int64 // bytes of all, without what was asked for
	accounts []account
	children []*account // that ended cleanly and have a floor

	// For find.
	sought uint64
	found  *account
	scans  int
	byID   map[uint64]*account // by instance, after maxScans
}

// account is one slot in a budget.
type account struct {
	rawformat.Slot
	at    int   // offset of the slot
	next  int   // in Oldest
	guard int64 // bytes below which it must not fall
	ask   int64 // what was done at or before is to be given up; 0: nothing

	worthy bool   // a crash that is protected
	why    string // a child that has expired: see rawformat.MetaMadeWay
}

// reset empties the budget.
func (b *budget) reset(limit int64) {
	*b = budget{limit: limit, accounts: b.accounts[:0], byID: b.byID, children: b.children[:0]}
}

// add takes a slot into account.
func (b *budget) add(at int, s rawformat.Slot) {
	a := account{Slot: s, at: at}
	a.forego(a.Request)
	b.sum += a.Held
	b.accounts = append(b.accounts, a)
}

// forego counts the chunks that were done at or before a time as gone.
func (a *account) forego(done int64) {
	for a.next < len(a.Oldest) && a.Oldest[a.next] != 0 && a.Oldest[a.next] <= done {
		a.Held = max(0, a.Held-a.Chunk)
		a.next++
	}
}

// loopGap is how long after a crash the next one still belongs to the same loop.
// Supervisors wait some minutes at most before they restart a program; the rest is the
// time that it may take to crash.
const loopGap = int64(time.Hour)

// protect sets the guards:
//
//  1. Of the processes that died uncleanly, the newest and the first of the same crash
//     loop are protected: what they recorded in their last Keep, as far as half the
//     limit suffices for both.
//  2. These and all live processes have a floor: the limit divided by twice their
//     number.
//  3. Children that ended cleanly have one, too, until they expire, see [budget.heed].
//     They count among the number, but not as more than all others together: then they
//     divide the floors of so many among themselves, see [budget.keep].
func (b *budget) protect() {
	worthy := b.worthy()
	n := int64(len(worthy))
	live := int64(0)
	for i := range b.accounts {
		if b.accounts[i].Kind == rawformat.SlotLive {
			live++
		}
	}
	floor := b.keep(b.heed(), live+n)
	for i := range b.accounts {
		if a := &b.accounts[i]; a.Kind == rawformat.SlotLive {
			a.guard = floor
		}
	}
	for _, a := range worthy {
		a.guard = max(floor, min(a.Guarded, b.limit/2/n))
	}
}

// worthy returns the crashed accounts that are protected.
func (b *budget) worthy() []*account {
	var crashed []*account
	for i := range b.accounts {
		if a := &b.accounts[i]; a.Kind == rawformat.SlotCrashed && a.Keep > 0 {
			crashed = append(crashed, a)
		}
	}
	if len(crashed) == 0 {
		return nil
	}
	slices.SortFunc(crashed, crashOrder)
	newest := len(crashed) - 1
	first := newest
	for first > 0 && crashed[first].Ended-crashed[first-1].Ended <= loopGap {
		first--
	}
	worthy := slices.Compact([]*account{crashed[first], crashed[newest]})
	for _, a := range worthy {
		a.worthy = true
	}
	return worthy
}

func crashOrder(a, b *account) int {
	return cmp.Or(cmp.Compare(a.Ended, b.Ended), cmp.Compare(a.Instance, b.Instance))
}

// choose decides what is to be discarded, for the process whose slot is at offset own
// and which waits for room for want bytes. If the session is within its limit, that
// process simply reuses its own oldest chunk, provided it is about as old as the oldest
// of all.
func (b *budget) choose(want int64, own int) {
	for b.sum+want > b.limit {
		a := b.oldest()
		if a == nil || b.sum <= b.limit && a.why == "" && b.suffices(own, a.done()) {
			return
		}
		b.give(a)
	}
}

// suffices reports whether the oldest chunk of the process at own is about as old as
// that time: at most as much younger as a few of its chunks span. Otherwise two equally
// busy processes would take files from each other for ever, which costs more than
// reusing one's own.
func (b *budget) suffices(own int, done int64) bool {
	for i := range b.accounts {
		a := &b.accounts[i]
		if a.at != own || a.done() == 0 {
			continue
		}
		slack := max(0, a.Oldest[len(a.Oldest)-1]-a.Oldest[0])
		return a.done()-done <= slack
	}
	return false
}

// oldest returns the account whose chunk is discarded next: that with the globally
// oldest chunk, among those that stay at or above their guard without it. Children that
// have expired come first. Equal times are ordered by instance.
func (b *budget) oldest() *account {
	var best *account
	for i := range b.accounts {
		a := &b.accounts[i]
		if a.done() == 0 || a.Held-a.Chunk < a.guard {
			continue
		}
		if best == nil || a.before(best) {
			best = a
		}
	}
	return best
}

// before reports whether a's oldest chunk goes before that of another account.
func (a *account) before(o *account) bool {
	if (a.why != "") != (o.why != "") {
		return a.why != ""
	}
	return cmp.Or(cmp.Compare(a.done(), o.done()), cmp.Compare(a.Instance, o.Instance)) < 0
}

// done is when the oldest chunk of the account was done that was not asked for yet; 0 if
// none is known.
func (a *account) done() int64 {
	if a.next == len(a.Oldest) {
		return 0
	}
	return a.Oldest[a.next]
}

// give asks for a's oldest chunk, and for all that were done at the same time.
func (b *budget) give(a *account) {
	before := a.Held
	a.ask = a.done()
	a.forego(a.ask)
	b.sum -= before - a.Held
}
