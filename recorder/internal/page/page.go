// Package page knows which pages of the program are open, and writes what they are. Like
// events they are the program's, whatever records.
package page

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"sync"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

const (
	// maxPages bounds those that are stated again and again while they are open.
	maxPages = 4096

	// numbers is how many of a process' pages have numbers of their own. Numbers of
	// other processes begin elsewhere, for a profile has the pages of all of them; and
	// they are no larger than what a number of JSON holds.
	numbers = 1 << 24
)

// Page is something that a program works on for a while. What is exported does not change
// once it is open.
type Page struct {
	ID, Tab, Embedder uint64
	Private           bool
	URL               string
	opened            rt.Time

	// Under pages.mu:
	closed bool
	in     uint64 // instance of the recording that has stated it last
	index  uint64 // of the block; 0 it is not known
}

var pages list

type list struct {
	mu    sync.Mutex
	first uint64 // number of the first, a random one
	last  uint64
	open  []*Page // at most maxPages
	fresh int     // counts those that were opened
}

// Open opens a page, which has no number yet. One without a tab has one of its own, of
// the same number.
func Open(p *Page) {
	p.opened = rt.Now()
	pages.mu.Lock()
	defer pages.mu.Unlock()
	p.ID = pages.number()
	if p.Tab == 0 {
		p.Tab = p.ID
	}
	if pages.fresh++; len(pages.open) < maxPages {
		pages.open = append(pages.open, p)
	}
	if r := shard.Current.Load(); r != nil {
		r.Contain(func() { p.state(r, shard.NoWait) }) // its Failure tells
	}
}

// Close ends the page. Closing twice does nothing.
func (p *Page) Close() {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	pages.open = slices.DeleteFunc(pages.open, func(o *Page) bool { return o == p })
	if r := shard.Current.Load(); r != nil {
		r.Contain(func() { p.end(r) }) // its Failure tells
	}
}

// number is one that no other page has. The lock is held.
func (l *list) number() uint64 {
	if l.first == 0 {
		var b [8]byte
		rand.Read(b[:]) // never fails
		const places = 1 << 28
		l.first = (1 + binary.LittleEndian.Uint64(b[:])%(places-1)) * numbers
	}
	l.last = (l.last + 1) % numbers
	return l.first + l.last
}

// state writes what a page is. The lock is held.
func (p *Page) state(r *shard.Recording, patience shard.Patience) {
	if index, ok := r.Write(patience, p.block(r)); ok && index != 0 {
		p.in, p.index = r.Instance(), index
	}
}

// block says what a page is, with the time at which it was opened.
func (p *Page) block(r *shard.Recording) shard.Block {
	private := uint64(0)
	if p.Private {
		private = 1
	}
	return shard.Block{Kind: rawformat.KindPage, Time: r.Clock().At(max(p.opened, r.Begun())),
		Fields: []uint64{p.Tab, p.ID, p.Embedder, private}, Text: p.URL, HasText: true}
}

// end writes that a page is closed, and before it what it was, unless that is at
// most as old as the chunk: so who finds the end finds the page. The lock is held.
func (p *Page) end(r *shard.Recording) {
	page := p.block(r)
	if p.in == r.Instance() {
		page.Previous = p.index
	}
	r.Write(shard.NoWait, page, shard.Block{Kind: rawformat.KindPageEnd, Time: r.Clock().Now(), Fields: []uint64{p.ID}})
}

// Keep states an open page unless it was stated in this recording, at the floor
// or behind it.
func (p *Page) Keep(r *shard.Recording, floor uint64) {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	if !p.closed && (p.in != r.Instance() || p.index < floor) {
		p.state(r, shard.WaitUncounted)
	}
}

// Opened is how many pages were ever opened.
func Opened() int {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	return pages.fresh
}

// List are the open pages that can be stated again: up to so many, those that were opened
// first. There are more if all is false.
func List(most int) (first []*Page, all bool) {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	most = min(most, maxPages-1) // when all places are taken there may be more
	if len(pages.open) <= most {
		return slices.Clone(pages.open), true
	}
	return slices.Clone(pages.open[:most]), false
}
