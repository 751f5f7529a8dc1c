package chunks

import (
	"io/fs"

	"gprof/rawformat"
)

// Cutter leaves out the front of chunks. Each page can be decoded without the ones before
// it, so the pages of a chunk from some page on are a chunk by themselves, with the same
// epoch and a higher range start. Seals stay valid.
type Cutter struct {
	since uint64 // ns of CLOCK_MONOTONIC
	rate  tickRate
}

// cutMargin is how much earlier than asked for a chunk is cut, in ns, as the rate of the
// time-stamp counter is an estimate.
const cutMargin = 20e6

// NewCutter returns a cutter for the process in a directory. It keeps what happened since
// a moment, in ns of CLOCK_MONOTONIC.
func NewCutter(fsys fs.FS, dir string, since uint64) (*Cutter, error) {
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
	return &Cutter{since: since - min(since, cutMargin), rate: (&Process{Chunks: all}).ticks()}, nil
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
// headers are left, as in a slice. It keeps the pages from the first block that is recent
// enough, the pages that samples in these refer to, the last page, and the last reading
// of the clocks. If there is one part, nothing was left out.
func (c *Cutter) Cut(file []byte) (parts [][]byte) {
	h, closed, err := rawformat.ReadHeader(file)
	since, ok := c.tick(&h)
	if err != nil || !ok || h.Epoch == 0 || h.Straddles() || h.Capacity > maxPayload || len(file) != int(rawformat.HeadSize+h.Capacity+rawformat.TrailerSize) {
		return [][]byte{file}
	}
	if !closed {
		h.Close = rawformat.Anchor{}
	}
	pages := surveyPages(&Image{Name: "chunk", Size: int64(len(file)), Header: h, Closed: closed, fsys: inMemory("chunk", file)}, since)
	for from := 0; from < len(pages); {
		to := from + 1
		for to < len(pages) && pages[to].keep == pages[from].keep {
			to++
		}
		parts = append(parts, cutOut(file, h, pages, from, to))
		from = to
	}
	return parts
}

// cutPage is a page of a chunk that is to be cut.
type cutPage struct {
	begin  uint32 // offset of the first block that begins in it, in the payload
	last   uint32 // offset of the last one
	end    uint32 // where the last one ends
	blocks uint32
	keep   bool
	needs  int // the first page that its samples refer to
}

// surveyPages decides which pages of a chunk are kept. It returns none if there is no
// block.
func surveyPages(im *Image, since uint64) (pages []cutPage) {
	var of references
	var now uint64
	cut, anchor := -1, -1
	for r := NewReader([]*Image{im}, nil); r.Next(); {
		b := r.Block()
		p := int(b.Offset / rawformat.PageSize)
		for len(pages) <= p {
			pages = append(pages, cutPage{begin: pageStart(len(pages) + 1), needs: len(pages)})
		}
		page := &pages[p]
		page.begin = min(page.begin, b.Offset)
		page.last, page.end = b.Offset, b.Offset+uint32(len(r.Run().Data))
		page.blocks++
		if now = timeOf(b, now); now >= since && cut < 0 {
			cut = p
		}
		switch b.Kind {
		case rawformat.KindAnchor:
			anchor = p
		default:
			page.needs = min(page.needs, of.page(&b, p))
		}
	}
	if cut < 0 {
		cut = len(pages) - 1
	}
	first := max(0, cut)
	if anchor >= 0 {
		first = min(first, anchor)
	}
	for p := max(0, cut); p < len(pages); p++ {
		first = min(first, pages[p].needs)
	}
	for p := first; p < len(pages); p++ {
		pages[p].keep = true
	}
	return pages
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

// cutOut makes the part of a chunk that consists of the pages from from to to. The last
// part extends to the end of the chunk. In another part the last block may continue in
// the next page. It is left out then, and so is the seal of its page, which covers it.
func cutOut(file []byte, h rawformat.Header, pages []cutPage, from, to int) []byte {
	start, end, offset := pageStart(from), pageStart(to), pageStart(to)
	seals := file[rawformat.HeaderSize+8*from : rawformat.HeaderSize+8*to]
	last, blocks := to == len(pages), uint32(0)
	for _, p := range pages[from:to] {
		blocks += p.blocks
	}
	switch final := &pages[to-1]; {
	case last:
		end, offset = h.Capacity, h.Commit.Offset()
		seals = file[rawformat.HeaderSize+8*from : rawformat.HeaderSize+8*rawformat.Pages(end)]
	case final.end > end && final.keep:
		offset, blocks = final.last, blocks-1
		seals = seals[:len(seals)-8]
	}
	h.RangeStart += uint64(start)
	h.Capacity = end - start
	h.FirstBlock = min(pages[from].begin-start, h.Capacity)
	h.Commit = rawformat.MakeCommit(offset-start, blocks)
	part := make([]byte, rawformat.HeadSize, rawformat.HeadSize+h.Capacity+rawformat.TrailerSize)
	if !pages[from].keep {
		h.State, h.Close = rawformat.StateLeftOut, rawformat.Anchor{}
		rawformat.PutHeader(part, &h)
		return part
	}
	rawformat.PutHeader(part, &h)
	copy(part[rawformat.HeaderSize:], seals)
	part = append(part, file[rawformat.HeadSize+start:rawformat.HeadSize+end]...)
	part = part[:len(part)+rawformat.TrailerSize]
	rawformat.PutTrailer(part[len(part)-rawformat.TrailerSize:], h.Instance, h.Epoch)
	return part
}

// tick is the moment from which on blocks are kept, by the clock of a chunk.
func (c *Cutter) tick(h *rawformat.Header) (tick uint64, ok bool) {
	if h.Clock() != rawformat.ClockTSC {
		return c.since, true
	}
	if c.rate <= 0 || c.since <= h.Open.Monotonic {
		return 0, false
	}
	return h.Open.TSC + uint64(float64(c.since-h.Open.Monotonic)/float64(c.rate)), true
}

// covered reports whether chunks hold the whole range of an image.
func covered(im *Image, by []*Image) bool {
	at := im.Header.RangeStart
	for _, c := range by { // by range start
		if c.Header.RangeStart <= at {
			at = max(at, c.End())
		}
	}
	return at >= im.End()
}
