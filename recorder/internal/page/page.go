// Package page keeps track of the pages that a program has open. Like events, pages
// belong to the program; each recording states those that are open.
package page

import (
	"slices"
	"sync"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

const (
	// maxPages bounds the pages that are restated while they are open.
	maxPages = 4096

	// numbers is how many pages of a process have distinct numbers. Other processes begin
	// elsewhere, because a profile has the pages of all processes. The numbers fit into a
	// number of JSON.
	numbers = 1 << 24
)

// Page is something that a program works on for a while. Its exported fields do not change
// once it is open.
type Page struct {
	ID, Tab, Embedder uint64
	Private           bool
	URL               string
	opened            rt.Time

	// Under pages.mu:
	closed   bool
	statedIn uint64 // instance of the recording that it was last written to
	index    uint64 // of that block
}

var pages list

type list struct {
	mu     sync.Mutex
	first  uint64 // number of the first, a random one
	last   uint64
	open   []*Page // at most maxPages
	opened int     // how many were ever opened
}

// Open opens a page and gives it its number. A page without a tab gets a tab of its own,
// with the same number.
func Open(p *Page) {
	p.opened = rt.Now()
	pages.mu.Lock()
	defer pages.mu.Unlock()
	p.ID = pages.number()
	if p.Tab == 0 {
		p.Tab = p.ID
	}
	if pages.opened++; len(pages.open) < maxPages {
		pages.open = append(pages.open, p)
	}
	if r := shard.Current.Load(); r != nil {
		r.Contain(func() { p.state(r, shard.NoWait) }) // Failure has the error
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
		r.Contain(func() { p.end(r) }) // Failure has the error
	}
}

// number returns a number that no other page has. The lock is held.
func (l *list) number() uint64 {
	if l.first == 0 {
		const places = 1 << 28
		l.first = (1 + rt.Random()%(places-1)) * numbers
	}
	l.last = (l.last + 1) % numbers
	return l.first + l.last
}

// state writes what a page is. The lock is held.
func (p *Page) state(r *shard.Recording, patience shard.Patience) {
	if index, ok := r.Write(patience, p.block(r)); ok && index != 0 {
		p.statedIn, p.index = r.Instance(), index
	}
}

// block is the block that describes a page, with the time at which it was opened.
func (p *Page) block(r *shard.Recording) shard.Block {
	private := uint64(0)
	if p.Private {
		private = 1
	}
	return shard.Block{Kind: rawformat.KindPage, Time: r.Clock().At(max(p.opened, r.Begun())),
		Fields: []uint64{p.Tab, p.ID, p.Embedder, private}, Text: p.URL, HasText: true}
}

// end writes that a page is closed, and before that what the page is, unless the same chunk
// has it already. So a reader that finds the end also finds the page. The lock is held.
func (p *Page) end(r *shard.Recording) {
	page := p.block(r)
	if p.statedIn == r.Instance() {
		page.Previous = p.index
	}
	r.Write(shard.NoWait, page, shard.Block{Kind: rawformat.KindPageEnd, Time: r.Clock().Now(), Fields: []uint64{p.ID}})
}

// Keep writes an open page again unless this recording has it at an index of at least
// floor.
func (p *Page) Keep(r *shard.Recording, floor uint64) {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	if !p.closed && (p.statedIn != r.Instance() || p.index < floor) {
		p.state(r, shard.WaitUncounted)
	}
}

// Opened is how many pages were ever opened.
func Opened() int {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	return pages.opened
}

// List returns the open pages that can be restated, at most most: those that were opened
// first. If all is false there are more.
func List(most int) (first []*Page, all bool) {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	most = min(most, maxPages-1) // if all places are taken there may be more
	if len(pages.open) <= most {
		return slices.Clone(pages.open), true
	}
	return slices.Clone(pages.open[:most]), false
}
