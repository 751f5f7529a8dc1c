package recorder

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// Page is something that a program works on for a while, and that its markers name:
// a document, a tenant, a job. Front ends show which page a marker is of, see
// [PageID]. It is not for requests: there may be some thousand pages open at a time.
//
//	job := recorder.OpenPage("job://nightly/invoices")
//	defer job.Close()
//
//	step.Mark(job.ID(), "render")
//
// A recording has the page as long as it has anything from before its end. Opening
// and closing take a lock and allocate, unlike markers. All methods work on nil, which
// is no page.
type Page struct {
	id, tab, embedder uint64
	private           bool
	url               string
	opened            rt.Time

	// Under pages.mu:
	closed bool
	in     uint64 // instance of the recorder that has stated it last
	index  uint64 // of the block; 0 nobody knows
}

// PageOption is a property of a page.
type PageOption func(*Page)

// Tab puts the page among others of that number, which front ends let one choose
// together. Without it the page is in that of the page it is embedded in, else in
// one of its own.
func Tab(n uint64) PageOption { return func(p *Page) { p.tab = n } }

// EmbeddedIn says that the page is a part of another one.
func EmbeddedIn(outer *Page) PageOption {
	return func(p *Page) {
		if outer != nil {
			p.embedder = outer.id
			if p.tab == 0 {
				p.tab = outer.tab
			}
		}
	}
}

// Private says that the page's address is a secret; see gprof-convert --redact.
func Private() PageOption { return func(p *Page) { p.private = true } }

// PageID is the page that a marker is of: the value is [Page.ID].
func PageID(name string) Field[uint64] {
	return number[uint64](name, rawformat.WireUint, rawformat.FormatWindow)
}

const (
	// maxPages bounds those that are stated again and again while they are open.
	maxPages = 4096

	// pageShare is the part of the limit for which there may be one: it takes up to
	// 1 KiB in each half of the ring.
	pageShare = 16 << 10

	// pageIDs is how many of a process' pages have numbers of their own. Numbers of
	// other processes begin elsewhere, for a profile has the pages of all of them; and
	// they are no larger than what a number of JSON holds.
	pageIDs = 1 << 24
)

// pages are those that are open: like events they are the program's, whatever
// records.
var pages pageList

type pageList struct {
	mu    sync.Mutex
	first uint64 // number of the first, a random one
	last  uint64
	open  []*Page // at most maxPages
	fresh int     // counts those that were opened
}

// OpenPage opens a page. Its URL may be any text that names it; it is cut at 1 KiB.
func OpenPage(url string, opts ...PageOption) *Page {
	p := &Page{url: url, opened: rt.Now()}
	pages.mu.Lock()
	defer pages.mu.Unlock()
	p.id = pages.number()
	for _, o := range opts {
		o(p)
	}
	if p.tab == 0 {
		p.tab = p.id
	}
	if pages.fresh++; len(pages.open) < maxPages {
		pages.open = append(pages.open, p)
	}
	if r := shard.Current.Load(); r != nil {
		r.Contain(func() { p.state(r, shard.Hasty) }) // Err tells
	}
	return p
}

// number is one that no other page has. The lock is held.
func (l *pageList) number() uint64 {
	if l.first == 0 {
		var b [8]byte
		rand.Read(b[:]) // never fails
		const places = 1 << 28
		l.first = (1 + binary.LittleEndian.Uint64(b[:])%(places-1)) * pageIDs
	}
	l.last = (l.last + 1) % pageIDs
	return l.first + l.last
}

// ID is the number of the page, 0 for nil: what a marker tells as a field made by
// [PageID].
func (p *Page) ID() uint64 {
	if p == nil {
		return 0
	}
	return p.id
}

// Close ends the page. Closing twice does nothing.
func (p *Page) Close() {
	if p == nil {
		return
	}
	pages.mu.Lock()
	defer pages.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	pages.open = slices.DeleteFunc(pages.open, func(o *Page) bool { return o == p })
	if r := shard.Current.Load(); r != nil {
		r.Contain(func() { p.end(r) }) // Err tells
	}
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
	if p.private {
		private = 1
	}
	return shard.Block{Kind: rawformat.KindPage, Time: r.Clock().At(max(p.opened, r.Begun())),
		Fields: []uint64{p.tab, p.id, p.embedder, private}, Text: p.url, Texted: true}
}

// end writes that a page is closed, and before it what it was, unless that is at
// most as old as the chunk: so who finds the end finds the page. The lock is held.
func (p *Page) end(r *shard.Recording) {
	page := p.block(r)
	if p.in == r.Instance() {
		page.Said = p.index
	}
	r.Write(shard.Hasty, page, shard.Block{Kind: rawformat.KindPageEnd, Time: r.Clock().Now(), Fields: []uint64{p.id}})
}

// pageKeeper states open pages again before they are discarded. It belongs to the
// keeper.
type pageKeeper struct {
	fresh  int    // of the list, when it was looked through
	floor  uint64 // no page was stated below this index then
	warned bool   // that there are too many
}

// round states the pages that this recording does not have yet, or not for long.
func (k *pageKeeper) round(r *keeper) {
	if !r.features.Has(FeatureMarkers) {
		return
	}
	fresh, turned := pages.opened(), k.turned(r)
	if fresh == 0 || fresh == k.fresh && !turned {
		return
	}
	k.fresh = fresh
	if turned {
		k.floor = r.middle()
	}
	for _, p := range k.list(r) {
		r.keepPage(p, k.floor)
		if r.ring.Low() {
			r.maintainRing()
		}
	}
}

// turned reports whether some pages may be discarded soon: not before the ring has
// grown.
func (k *pageKeeper) turned(r *keeper) bool {
	start, end := r.ring.RangeStart(), r.ring.RangeEnd()
	return k.floor < start+(end-start)/4 && (start > 1 || end > uint64(r.limit)/4)
}

// keepPage states an open page unless it was stated in this recording, at the floor
// or behind it.
func (k *keeper) keepPage(p *Page, floor uint64) {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	if !p.closed && (p.in != k.rec.Instance() || p.index < floor) {
		p.state(k.rec, shard.Repeated)
	}
}

// opened is how many pages were ever opened.
func (l *pageList) opened() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh
}

// list are the open pages that are stated again: those that were opened first.
func (k *pageKeeper) list(r *keeper) []*Page {
	pages.mu.Lock()
	list := slices.Clone(pages.open)
	pages.mu.Unlock()
	most := min(maxPages-1, int(r.limit/pageShare)) // when all places are taken there may be more
	if len(list) <= most {
		return list
	}
	if !k.warned {
		k.warned = true
		r.rec.Log(rawformat.LogWarn, fmt.Sprintf("pages: more than %d are open; those opened last are forgotten when the ring has turned", most))
	}
	return list[:most]
}
