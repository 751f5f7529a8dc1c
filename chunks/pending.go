package chunks

import "sync"

// Pending gathers the updates of a [LocalLimit] for somebody who looks now and
// then: its Fold can be given to OnUpdate. The zero value holds none. It may be
// used by several goroutines.
//
// A [Ring] needs nothing of the kind: its slot in the control page is the folded
// update, and who looks reads it.
type Pending struct {
	mu  sync.Mutex
	sum Update
	any bool // sum is one
}

// Fold adds an update to those that wait. It keeps Newly. An update behind a
// final one is a bug of the caller.
func (p *Pending) Fold(u Update) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.any || u.Final:
		p.sum, p.any = u, true
	case p.sum.Final:
		panic("internal error: an update behind the final one")
	default:
		p.sum.fold(u)
	}
}

// fold adds an update to one before it. What was released and is older than the
// oldest that is left was discarded since. Without an oldest one nothing is known
// of that: the old one stays.
func (p *Update) fold(u Update) {
	p.Unreleased, p.Released = u.Unreleased, u.Released
	if u.OldestDone != 0 {
		p.OldestDone = u.OldestDone
		for len(p.Newly) > 0 && p.Newly[0].Done < u.OldestDone {
			p.Newly = p.Newly[1:]
		}
	}
	p.Newly = append(p.Newly, u.Newly...)
}

// Take returns what was folded since the last Take; false means nothing was. A
// final update stays.
func (p *Pending) Take() (u Update, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u, ok = p.sum, p.any
	if !u.Final {
		p.sum, p.any = Update{}, false
	}
	return u, ok
}
