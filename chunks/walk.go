package chunks

import "gprof/rawformat"

// span is the place of one block in a payload.
type span struct {
	at    uint32 // of the length's first byte
	body  uint32 // of the kind
	end   uint32
	fresh bool // the block before it was not delivered
}

// walk iterates over the intact blocks of one content.
type walk struct {
	c       *content
	at      uint32 // where the next block should begin
	until   uint32 // the first byte after it that must not be read
	stop    uint32 // blocks that begin from here on are not delivered
	page    int    // the last page in which a block began, -1 after a jump
	fresh   bool
	blocks  int64 // whole blocks that began below at
	unproof int64 // how many of them rely on unproven bytes
	head    []byte
}

// newWalk returns a walk that begins after the tail of the previous chunk's last block.
func newWalk(c *content) walk {
	w := walk{c: c, at: c.header.FirstBlock, page: -1, fresh: true, stop: c.end()}
	w.until = c.until(w.at)
	return w
}

// next finds the next intact block:
//  1. The first block that begins in a page must pass [walk.enter].
//  2. Its length and all of its bytes must lie in pages that count.
//  3. A sync block in mid-page must restate the truth, too.
//
// A failure costs the rest of the page: the walk goes on at the first block of the next
// page that counts.
func (w *walk) next(s *span) bool {
	for w.at < w.stop {
		p := int(w.at / rawformat.PageSize)
		if p != w.page && !w.enter(p) {
			continue
		}
		body, end, err := w.c.blockAt(w.at, w.until)
		if err != nil {
			w.bad(p, err)
			continue
		}
		if w.c.data[body] == byte(rawformat.KindSync) && w.c.sync(w.at, w.until) != syncFits {
			w.give(p, Foreign, "sync block of another place")
			continue
		}
		*s = span{w.at, body, end, w.fresh}
		w.count(end)
		w.at, w.fresh = end, false
		return true
	}
	pages := rawformat.Pages(w.stop)
	w.passed(pages)
	w.page = pages
	return false
}

// extend advances over the blocks after the one that next found, as long as each is short,
// not a sync block, and wholly in the current page. These are blocks that next would
// find without a jump. It returns where they end.
func (w *walk) extend() (end uint32) {
	c := w.c
	limit := min(pageStart(w.page+1), w.until)
	if w.at >= limit || w.page < 0 {
		return w.at
	}
	data, at, blocks := c.data[:limit], w.at, int64(0)
	for int(at)+1 < len(data) {
		n := uint32(data[at])
		if n-1 >= 0x7f || at+1+n > limit || data[at+1] == byte(rawformat.KindSync) {
			break
		}
		at += 1 + n
		blocks++
	}
	w.at = at
	w.blocks += blocks
	if c.pages[w.page].verdict == unproven {
		w.unproof += blocks
	}
	return at
}

// count counts a delivered block that ends at end.
func (w *walk) count(end uint32) {
	w.blocks++
	for p := int(w.at / rawformat.PageSize); p <= int((end-1)/rawformat.PageSize); p++ {
		if w.c.pages[p].verdict == unproven {
			w.unproof++
			return
		}
	}
}

// enter checks the first block that begins in page p, and jumps ahead if it fails.
func (w *walk) enter(p int) bool {
	pg := w.c.pages[p]
	if pg.verdict == lost || w.at >= w.until {
		w.jump(p + 1)
		return false
	}
	w.passed(p)
	fit := w.c.sync(w.at, w.until)
	if pg.verdict == proven && pg.first != w.at {
		w.c.pageProblem(p, Damaged, "first block of the page entry", 0, 0)
		if fit != syncFits && w.c.sync(pg.first, w.until) == syncFits {
			w.at, w.fresh, fit = pg.first, true, syncFits
		}
	}
	w.page = p
	switch {
	case fit == syncFits || fit == syncMissing && w.c.header.Straddles():
		return true
	case fit == syncMissing:
		w.give(p, Damaged, "no sync block")
	default:
		w.give(p, Foreign, "sync block of another place")
	}
	return false
}

// passed checks the entries of pages before p in which no block began.
func (w *walk) passed(p int) {
	for q := w.page + 1; q < p && w.page >= 0; q++ {
		if pg := w.c.pages[q]; pg.verdict == proven && pg.first != pageStart(q+1) {
			w.c.pageProblem(q, Damaged, "first block of the page entry", 0, 0)
		}
	}
}

// bad handles a block at w.at that cannot be read.
func (w *walk) bad(p int, err error) {
	switch c := w.c; {
	case isTruncated(err) && w.until < uint32(len(c.data)):
		w.jump(p + 1) // it reaches into a lost page, which was reported
	case isTruncated(err) && uint32(len(c.data)) < c.wanted:
		w.jump(p + 1) // the file is cut, which was reported
	case isTruncated(err) && c.header.Straddles() && c.commitOK && w.until == c.header.Capacity:
		w.head = c.data[w.at:]
		w.count(w.until)
		w.at = w.until
	default:
		w.give(p, Damaged, "block: "+err.Error())
	}
}

// give gives up the rest of page p.
func (w *walk) give(p int, class ProblemClass, what string) {
	w.c.pageProblem(p, class, what, -1, int64(w.c.pages[p].end-w.at))
	w.jump(p + 1)
}

// jump continues at the first block of the first page, from p on, that says where it
// is.
func (w *walk) jump(p int) {
	w.fresh, w.page = true, -1
	for ; p < len(w.c.pages); p++ {
		if o, ok := w.c.firstIn(p); ok {
			w.at, w.until = o, w.c.until(o)
			return
		}
	}
	w.at = uint32(len(w.c.data))
}

// firstIn finds the first block that begins in a page: by the entry of a sealed page, by
// searching for the sync block in others.
func (c *content) firstIn(p int) (uint32, bool) {
	pg := c.pages[p]
	switch pg.verdict {
	case proven:
		return pg.first, pg.first < pg.end
	case unproven:
		until := c.until(pageStart(p))
		for o := pageStart(p); o < pg.end; o++ {
			if c.sync(o, until) == syncFits {
				return o, true
			}
		}
	}
	return 0, false
}

// blockAt reads the block at o, which must end at or before until. The error is an
// [*rawformat.Error] with an offset from the start of the payload, of class ErrTruncated
// if the block would end after until.
func (c *content) blockAt(o, until uint32) (body, end uint32, err error) {
	n, size, err := rawformat.ReadUint(c.data[o:until])
	body = o + uint32(size)
	switch {
	case err != nil:
	case n == 0:
		err = rawformat.ErrSyntax
	case n > rawformat.MaxBlock:
		err = rawformat.ErrTooBig
	case n > uint64(until-body):
		err = rawformat.ErrTruncated
	default:
		return body, body + uint32(n), nil
	}
	return 0, 0, &rawformat.Error{Off: int64(body), What: "length", Err: err}
}

// syncState is what was found where a sync block is expected.
type syncState uint8

const (
	syncMissing syncState = iota // another block, or none
	syncOther                    // a sync block of another index or epoch
	syncFits
)

// sync reads the block at o as the sync block that belongs there.
func (c *content) sync(o, until uint32) syncState {
	if o >= until {
		return syncMissing
	}
	body, end, err := c.blockAt(o, until)
	if err != nil || c.data[body] != byte(rawformat.KindSync) {
		return syncMissing
	}
	f := rawformat.NewCursor(c.data[body+1:end], 0)
	fits := f.Uint("index") == c.header.RangeStart+uint64(o) && f.Uint("epoch") == c.header.Epoch
	f.Uint("time")
	f.Uint("goroutine")
	f.Uint("track")
	if fits && f.Err() == nil {
		return syncFits
	}
	return syncOther
}
