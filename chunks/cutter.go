package chunks

import (
	"io/fs"

	"gprof/rawformat"
)

// Cutter leaves out the front of chunks: a page starts anew, so that the pages of a
// chunk from some page on are a chunk by themselves, of the same epoch and a higher
// range start. Seals stay what they are.
type Cutter struct {
	since uint64 // ns of CLOCK_MONOTONIC
	rate  tickRate
}

// cutMargin is how much earlier than asked for a chunk is cut, in ns: the counter's
// rate is known by some readings only.
const cutMargin = 20e6

// NewCutter makes a cutter for the process in a directory, which keeps what happened
// since a moment, in ns of CLOCK_MONOTONIC.
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

// readings are the anchors in a chunk, as if they were those of headers.
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

// Cut splits a chunk file into parts: what is kept are chunks, what is not are headers,
// as a slice leaves them. Kept are the pages from the first block on that is young
// enough, with what samples in them refer to, the last page, and the last reading of the
// clocks. One part: nothing is left out.
func (c *Cutter) Cut(file []byte) (parts [][]byte) {
	h, closed, err := rawformat.ReadHeader(file)
	since, ok := c.tick(&h)
	if err != nil || !ok || h.Epoch == 0 || h.Straddles() || h.Capacity > maxPayload || len(file) != int(rawformat.HeadSize+h.Capacity+rawformat.TrailerSize) {
		return [][]byte{file}
	}
	if !closed {
		h.Close = rawformat.Anchor{}
	}
	pages := surveyPages(&Image{Name: "chunk", Size: int64(len(file)), Header: h, Closed: closed, fsys: oneFile(file)}, since)
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

// cutPage is a page of a chunk that is cut.
type cutPage struct {
	begin  uint32 // of the first block that begins in it, in the payload
	last   uint32 // likewise, of the last one
	end    uint32 // of that
	blocks uint32
	keep   bool
	needs  int // the first page that its samples refer to
}

// surveyPages says which pages of a chunk are kept. There are none if there is no block.
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

// references follows what blocks say of samples in earlier pages: all else begins anew
// with each page. An idle block, which stands for no CPU time, may lose its own.
type references struct {
	thread uint64         // of the last busy block in the page
	last   map[uint64]int // by thread, or else by goroutine: page of the last sample with a stack
}

// page is the page of a block, or an earlier one with the sample that it repeats.
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
	case rawformat.KindBusy:
		b.Fields.Sint("time")
		r.thread += uint64(b.Fields.Sint("thread"))
		r.last[r.thread] = at
	}
	return at
}

// cutOut is the part of a chunk that is pages from to to; the last part goes to the end
// of the chunk. The last block of another part may go on in the next page: then it is
// none, and its page's seal, which counts it, is left out, too.
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

// tick is the moment since which blocks are kept, by the clock of a chunk.
func (c *Cutter) tick(h *rawformat.Header) (tick uint64, ok bool) {
	if h.Clock() != rawformat.ClockTSC {
		return c.since, true
	}
	if c.rate <= 0 || c.since <= h.Open.Monotonic {
		return 0, false
	}
	return h.Open.TSC + uint64(float64(c.since-h.Open.Monotonic)/float64(c.rate)), true
}

// covered reports whether chunks hold all of the range of an image.
func covered(im *Image, by []*Image) bool {
	at := im.Header.RangeStart
	for _, c := range by { // by range start
		if c.Header.RangeStart <= at {
			at = max(at, c.End())
		}
	}
	return at >= im.End()
}
