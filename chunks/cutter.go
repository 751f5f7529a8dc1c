package chunks

import (
	"encoding/binary"
	"io/fs"
	"math"
	"slices"

	"gprof/rawformat"
)

// Cutter leaves out the front and the end of chunks. Each page can be decoded without the ones
// before it, so the pages of a chunk from some page on are a chunk by themselves, with the same
// epoch and a higher range start. Seals stay valid.
type Cutter struct {
	since, until uint64 // ns of CLOCK_MONOTONIC
	rate         tickRate
	rest, ended  bool
}

// Rest reports whether the stack rings hold samples of the time that is kept.
func (c *Cutter) Rest() bool { return c.rest }

// cutMargin is how much earlier and later than asked for a chunk is cut, in ns, as the rate of
// the time-stamp counter is an estimate.
const cutMargin = 20e6

// NewCutter returns a cutter for the process in a directory. It keeps what happened since
// a moment until another, in ns of CLOCK_MONOTONIC; [math.MaxUint64] is the end.
func NewCutter(fsys fs.FS, dir string, since, until uint64) (*Cutter, error) {
	p, err := OpenProcess(fsys, dir)
	if err != nil {
		return nil, err
	}
	all := p.known()
	for _, im := range p.Chunks {
		if !im.Closed {
			all = append(all, readings(im)...)
		}
	}
	c := &Cutter{ended: p.Exit != nil, since: since - min(since, cutMargin), until: until + min(math.MaxUint64-until, cutMargin), rate: (&Process{Chunks: all}).ticks()}
	c.rest = slices.ContainsFunc(p.Rest, func(im *Image) bool {
		since, until, ok := c.ticks(&im.Header)
		return !ok || survey(im, since, until).some
	})
	return c, nil
}

// readings returns the anchor blocks of a chunk as if they were headers.
func readings(im *Image) (all []*Image) {
	for r := NewReader([]*Image{im}, nil); r.Next(); {
		if b := r.Block(); b.Kind == rawformat.KindAnchor {
			b.Fields.Sint("time")
			a := rawformat.Anchor{TSC: b.Fields.Uint("tsc"), Monotonic: b.Fields.Uint("monotonic")}
			all = append(all, &Image{Header: rawformat.Header{Open: a}})
		}
	}
	return all
}

// Cut splits a chunk file into parts. Parts that are kept are chunks; of the others only
// headers are left, as in a slice. It keeps the blocks from the page of the first one that is
// recent enough to the last one that is early enough, the pages that samples in these refer to,
// and a reading of the clocks. If there is no such block, nothing is kept, but for the last page where
// nothing else tells when the process was alive, or not all can be read. If there is one part that is
// kept, nothing was left out.
func (c *Cutter) Cut(file []byte) (parts [][]byte) {
	h, closed, err := rawformat.ReadHeader(file)
	since, until, ok := c.ticks(&h)
	if err != nil || !ok || h.Epoch == 0 || h.Straddles() || h.Capacity > maxPayload || len(file) != int(rawformat.HeadSize+h.Capacity+rawformat.TrailerSize) {
		return [][]byte{file}
	}
	if !closed {
		h.Close = rawformat.Anchor{}
	}
	kept := survey(&Image{Name: "chunk", Size: int64(len(file)), Header: h, Closed: closed, fsys: inMemory("chunk", file)}, since, until)
	cut := kept.parts(&h, c.ended)
	if len(cut) == 1 && cut[0].keep {
		return [][]byte{file}
	}
	for _, part := range cut {
		parts = append(parts, part.cutOut(file, h))
	}
	return parts
}

// keptBlocks is which blocks of a chunk are kept.
type keptBlocks struct {
	from  int // page
	until blockEnd
	all   blockEnd
	pages []cutPage
	some  bool // whether a block is recent and early enough
}

// blockEnd is where a block ends in the payload, and how many there are until then.
type blockEnd struct{ offset, blocks uint32 }

// cutPage is a page of a chunk that is to be cut.
type cutPage struct {
	begin  uint32 // offset of the first block that begins in it, in the payload
	before uint32 // blocks that begin in earlier pages
	needs  int    // the first page that its samples refer to
}

// survey decides which blocks of a chunk are kept.
func survey(im *Image, since, until uint64) (k keptBlocks) {
	var of references
	var now uint64
	cut, anchor := -1, -1
	for r := NewReader([]*Image{im}, nil); r.Next(); {
		b := r.Block()
		p := int(b.Offset / rawformat.PageSize)
		for len(k.pages) <= p {
			k.pages = append(k.pages, cutPage{begin: pageStart(len(k.pages) + 1), before: k.all.blocks, needs: len(k.pages)})
		}
		page := &k.pages[p]
		page.begin = min(page.begin, b.Offset)
		k.all = blockEnd{b.Offset + uint32(len(r.Run().Data)), k.all.blocks + 1}
		if now = timeOf(b, now); now >= since && cut < 0 {
			cut = p
		}
		if now <= until {
			k.until = k.all
			k.some = k.some || now >= since
		}
		switch {
		case b.Kind != rawformat.KindAnchor:
			page.needs = min(page.needs, of.page(&b, p))
		case now <= until:
			anchor = p
		}
	}
	if cut < 0 {
		cut, k.until = len(k.pages)-1, k.all
	}
	k.from = max(0, cut)
	if anchor >= 0 {
		k.from = min(k.from, anchor)
	}
	for p := max(0, cut); p < len(k.pages) && pageStart(p) < k.until.offset; p++ {
		k.from = min(k.from, k.pages[p].needs)
	}
	return k
}

// cutPart is a part of a chunk, in bytes of the payload.
type cutPart struct {
	start, first, offset, end uint32 // of the part, its first block, what is committed, all of it
	blocks                    uint32
	keep                      bool
}

// parts are what is left out, what is kept, and what is left out behind that; the first and the
// last are none if they have no blocks.
func (k *keptBlocks) parts(h *rawformat.Header, ended bool) (parts []cutPart) {
	committed := blockEnd{h.Commit.Offset(), h.Commit.Blocks()}
	kept := cutPart{end: h.Capacity, offset: committed.offset, blocks: committed.blocks, keep: true}
	none := cutPart{offset: committed.offset, end: h.Capacity, blocks: committed.blocks}
	if len(k.pages) > 0 {
		none.first = k.pages[0].begin
		if ended && !k.some && k.until == k.all && k.all.offset == committed.offset {
			return []cutPart{none} // it was over before, and nothing of it is damaged
		}
		page := k.pages[k.from]
		kept.start, kept.first = pageStart(k.from), page.begin
		kept.blocks -= min(kept.blocks, page.before)
		if k.from > 0 {
			parts = append(parts, cutPart{first: k.pages[0].begin, offset: kept.start, end: kept.start, blocks: page.before})
		}
	}
	if k.until.blocks == k.all.blocks {
		return append(parts, kept)
	}
	rest := cutPart{start: k.until.offset, first: k.until.offset, offset: max(k.until.offset, committed.offset), end: h.Capacity, blocks: committed.blocks - min(committed.blocks, k.until.blocks)}
	if kept.offset, kept.end = k.until.offset, k.until.offset; kept.offset <= kept.start {
		return []cutPart{none} // none is early enough
	}
	kept.blocks -= min(kept.blocks, rest.blocks)
	return append(parts, kept, rest)
}

// references finds the samples in earlier pages that blocks refer to, the only thing that
// does not begin anew with each page. An idle block, which stands for no CPU time, may
// lose its sample.
type references struct {
	thread uint64         // of the last busy block in the page
	last   map[uint64]int // by thread, or else by goroutine: page of the last sample with a stack
}

// page is the page of a block or, if it repeats an earlier sample, the page of that.
func (r *references) page(b *Block, at int) int {
	if r.last == nil {
		r.last = map[uint64]int{}
	}
	switch b.Kind {
	case rawformat.KindSync:
		r.thread = 0
	case rawformat.KindSample, rawformat.KindSameSample:
		b.Fields.Sint("time")
		who, goroutine := b.Fields.Uint("thread"), b.Fields.Uint("goroutine")
		if who == 0 {
			who = ^goroutine
		}
		if before, ok := r.last[who]; ok && b.Kind == rawformat.KindSameSample {
			return before
		}
		r.last[who] = at
	case rawformat.KindBusy, rawformat.KindBusyFor:
		b.Fields.Sint("time")
		r.thread += uint64(b.Fields.Sint("thread"))
		r.last[r.thread] = at
	}
	return at
}

// cutOut makes a part of a chunk file.
func (p *cutPart) cutOut(file []byte, h rawformat.Header) []byte {
	committed := min(h.Commit.Offset(), h.Capacity)
	h.RangeStart += uint64(p.start)
	h.Capacity = p.end - p.start
	h.FirstBlock = min(p.first-p.start, h.Capacity)
	h.Commit = rawformat.MakeCommit(p.offset-p.start, p.blocks)
	part := make([]byte, rawformat.HeadSize, rawformat.HeadSize+h.Capacity+rawformat.TrailerSize)
	if !p.keep {
		h.State, h.Close = rawformat.StateLeftOut, rawformat.Anchor{}
		rawformat.PutHeader(part, &h)
		return part
	}
	rawformat.PutHeader(part, &h)
	from, to := int(p.start/rawformat.PageSize), rawformat.Pages(p.end)
	copy(part[rawformat.HeaderSize:], file[rawformat.HeaderSize+8*from:rawformat.HeaderSize+8*to])
	if p.end < committed && p.end%rawformat.PageSize != 0 {
		seal := sealOfFront(file, &h, to-1, p.end, committed)
		binary.LittleEndian.PutUint64(part[rawformat.HeaderSize+8*(to-1-from):], uint64(seal))
	}
	part = append(part, file[rawformat.HeadSize+p.start:rawformat.HeadSize+p.end]...)
	part = part[:len(part)+rawformat.TrailerSize]
	rawformat.PutTrailer(part[len(part)-rawformat.TrailerSize:], h.Instance, h.Epoch)
	return part
}

// sealOfFront is the seal of a page up to an offset, 0 if that of all of it doesn't prove it.
func sealOfFront(file []byte, h *rawformat.Header, p int, until, committed uint32) rawformat.PageEntry {
	payload := file[rawformat.HeadSize:]
	start, end := pageStart(p), min(pageStart(p+1), committed)
	e := entryAt(file, p)
	if !e.Sealed() || rawformat.PageCRC(h.Instance, h.Epoch, payload[start:end]) != e.CRC() {
		return 0
	}
	first := e.First()
	if start+first >= until {
		first = rawformat.PageSize // no block begins in it
	}
	return rawformat.MakePageEntry(rawformat.PageCRC(h.Instance, h.Epoch, payload[start:until]), first)
}

// ticks are the moments between which blocks are kept, by the clock of a chunk; false if that
// can't be told, or is all of it.
func (c *Cutter) ticks(h *rawformat.Header) (since, until uint64, ok bool) {
	if h.Clock() != rawformat.ClockTSC {
		return c.since, c.until, true
	}
	if c.rate <= 0 || c.since <= h.Open.Monotonic && c.until == math.MaxUint64 {
		return 0, 0, false
	}
	return c.tick(h, c.since), c.tick(h, c.until), true
}

// tick is a moment by the clock of a chunk; the first one if it is before the chunk was begun.
func (c *Cutter) tick(h *rawformat.Header, at uint64) uint64 {
	if at <= h.Open.Monotonic {
		return 0
	}
	ticks := float64(at-h.Open.Monotonic) / float64(c.rate)
	if ticks >= float64(math.MaxUint64-h.Open.TSC) {
		return math.MaxUint64
	}
	return h.Open.TSC + uint64(ticks)
}

// covered reports whether chunks hold all that an image has, or that was left out of it.
func covered(im *Image, by []*Image) bool {
	at := im.Header.RangeStart
	for _, c := range by { // by range start
		if c.Header.RangeStart <= at {
			at = max(at, c.committed())
		}
	}
	return at >= im.committed()
}
