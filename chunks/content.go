package chunks

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"

	"gprof/rawformat"
)

// verdict says how far the bytes of a page can be trusted; higher is better.
type verdict uint8

const (
	lost     verdict = iota // not to be read
	unproven                // not sealed: read as far as they are committed
	proven                  // they match their checksum
)

// page is what is known of one page of the payload. Offsets are in the payload.
type page struct {
	verdict verdict
	end     uint32 // behind the last byte that counts
	first   uint32 // of a proven page: the first block that begins in it, its end or more if none does
}

// trailer is what the end of a file, which is read last, says about whether the file was
// reused while it was read.
type trailer uint8

const (
	trailerFits    trailer = iota // it was not reused
	trailerMissing                // the file ends before it
	trailerDiffers                // it was reused: only sealed pages count
)

// content is the payload of one image in memory, with a verdict on each page. Its
// buffers are reused by the next load.
type content struct {
	image    *Image
	size     int64            // of the file
	header   rawformat.Header // as read with the payload; its commit is the older one
	commitOK bool             // the commit word is not contradicted
	closed   bool
	trailer  trailer
	wanted   uint32 // bytes of payload that there should be
	head     []byte // header and page table
	data     []byte // payload, as far as it counts and the file has it
	pages    []page // of data
	problems []Problem

	room []byte // of head and data
}

func pageStart(page int) uint32 { return uint32(page) * rawformat.PageSize }

// load reads an image:
//  1. the header, again if it was being closed meanwhile;
//  2. the payload below the commit offset, or all of it if that is damaged;
//  3. the trailer, last, because reuse of the file clears it first;
//  4. then each page is judged.
//
// An error is one of reading, which a problem reports as well. The bytes that could be
// read count nevertheless.
func (c *content) load(im *Image) error {
	next := content{image: im, header: im.Header, room: c.room, pages: c.pages[:0], problems: c.problems[:0]}
	*c = content{image: im, header: im.Header} // if reading hangs, it has the buffers
	result, err := grouped(im.fsys, next.read)
	if err != nil {
		return c.unreadable(err)
	}
	*c = next
	return result
}

// read is load in a file system.
func (c *content) read(fsys fs.FS) error {
	im := c.image
	in, err := openInput(fsys, im.Name, rawformat.MaxChunkFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && dirExists(fsys, im.Name):
		c.stale(givenBack)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		// A session that needs room removes what dead processes left, which is not
		// an error of reading the others.
		c.unreadable(err)
		return nil
	case err != nil:
		return c.unreadable(err)
	}
	defer in.Close()
	c.size = in.size
	room := int(im.fullSize()) + rawformat.Slack
	c.room = slices.Grow(c.room[:0], room)[:room]
	if err := c.readHead(in); err != nil {
		return c.unreadable(err)
	}
	if !sameUse(im.Header, c.header) {
		c.stale("was reused since it was listed")
		return nil
	}
	if c.header.Commit.Offset() > im.Header.Commit.Offset() && c.commitOK {
		// Blocks that were added since may use definitions that were added since.
		c.header.Commit, c.closed = im.Header.Commit, false
	}
	if err = c.readPayload(in); err != nil {
		err = c.unreadable(err)
	} else {
		c.judgeSize()
	}
	c.judge()
	return err
}

func (c *content) problem(class ProblemClass, what string, blocks, bytes int64) {
	c.problems = append(c.problems, Problem{class, c.image.where(), what, blocks, bytes})
}

// stale notes that a live ring has reused the file.
func (c *content) stale(what string) {
	h := c.image.Header
	c.problem(Stale, what, int64(h.Commit.Blocks()), int64(h.Commit.Offset()))
	c.header, c.commitOK = h, false
}

func (c *content) pageProblem(page int, class ProblemClass, what string, blocks, bytes int64) {
	c.problems = append(c.problems, Problem{class, c.image.wherePage(page), what, blocks, bytes})
}

// unreadable notes why a file cannot be read. If it lies in a damaged archive, that is
// damage and not an error.
func (c *content) unreadable(err error) error {
	commit := c.image.Header.Commit
	bytes := int64(commit.Offset()) - int64(len(c.data))
	var format *rawformat.Error
	if errors.As(err, &format) {
		c.problem(Damaged, err.Error(), int64(commit.Blocks()), bytes)
		return nil
	}
	c.problem(Unreadable, err.Error(), -1, bytes)
	return err
}

// readHead reads header and page table. If the header contradicts itself, the chunk may
// just have been closed, and the header is read once more.
func (c *content) readHead(in *input) (err error) {
	for range 2 {
		if c.head, err = in.read(c.room[:rawformat.HeadSize], 0); err != nil {
			return err
		}
		c.header, c.closed, _ = rawformat.ReadHeader(c.head)
		if c.closed || len(c.head) < rawformat.HeaderSize || binary.LittleEndian.Uint32(c.head[rawformat.OffCloseCRC:]) == 0 {
			break
		}
	}
	closing := !c.closed && len(c.head) >= rawformat.HeaderSize && binary.LittleEndian.Uint32(c.head[rawformat.OffCloseCRC:]) != 0
	c.commitOK = !closing && c.header.Commit.Offset() <= c.header.Capacity
	return nil
}

func (c *content) readPayload(in *input) error {
	c.wanted = c.header.Capacity
	if c.commitOK {
		c.wanted = c.header.Commit.Offset()
	}
	payload := c.room[rawformat.HeadSize:]
	var err error
	c.data, err = in.read(payload[:c.wanted], rawformat.HeadSize)
	end, err2 := in.read(payload[c.header.Capacity:][:rawformat.TrailerSize], rawformat.HeadSize+int64(c.header.Capacity))
	switch instance, epoch := readTrailer(end); {
	case len(end) < rawformat.TrailerSize:
		c.trailer = trailerMissing
	case instance != c.header.Instance || epoch != c.header.Epoch:
		c.trailer = trailerDiffers
	}
	if err == nil {
		err = err2
	}
	return err
}

func readTrailer(b []byte) (instance, epoch uint64) {
	if len(b) < rawformat.TrailerSize {
		return 0, 0
	}
	return rawformat.ReadTrailer(b)
}

// end is the offset from which on no block is to be delivered: they are those of another part, or there are none.
func (c *content) end() uint32 { return min(uint32(len(c.data)), c.image.stop()) }

// judge gives each page its verdict. What is wrong with pages of another part is told when that is read.
func (c *content) judge() {
	if !c.commitOK {
		c.problem(Damaged, "commit does not fit", -1, 0)
	}
	for p := range rawformat.Pages(uint32(len(c.data))) {
		told := len(c.problems)
		c.pages = append(c.pages, c.judgePage(p))
		if pageStart(p) >= c.end() {
			c.problems = c.problems[:told]
		}
	}
}

func (c *content) judgeSize() {
	full := c.image.fullSize()
	switch {
	case c.size > full:
		c.problem(Foreign, "bytes behind the trailer", 0, c.size-full)
	case uint32(len(c.data)) < c.wanted:
		c.problem(Torn, "committed payload is missing", -1, full-c.size)
	case c.trailer == trailerMissing:
		c.problem(Torn, "end of file is missing", 0, full-c.size)
	}
}

// judgePage decides by the page's entry in the page table.
func (c *content) judgePage(p int) page {
	start, end := pageStart(p), min(pageStart(p+1), uint32(len(c.data)))
	e := c.entry(p)
	pg := page{end: end, first: start + e.First()}
	// Of a page that the file cuts short, the checksum is that of more bytes. The same
	// is true of a page that was sealed after the commit offset was read.
	late := !c.closed && c.commitOK && end < min(pageStart(p+1), c.header.Capacity)
	cut := end < min(pageStart(p+1), c.wanted)
	switch {
	case e == 0:
		pg.verdict = c.judgeUnsealed(p, end-start)
	case rawformat.MakePageEntry(e.CRC(), e.First()) != e || e.First() > rawformat.PageSize:
		c.lostPage(p, "page entry", end-start)
	case c.fits(start, end, e):
		pg.verdict = proven
	case !c.commitOK && c.header.Commit.Offset() > start && c.header.Commit.Offset() < end && c.fits(start, c.header.Commit.Offset(), e):
		pg.verdict, pg.end = proven, c.header.Commit.Offset()
	case (cut || late) && c.trailer != trailerDiffers:
		pg.verdict = unproven
	default:
		c.lostPage(p, "checksum differs", end-start)
	}
	return pg
}

func (c *content) fits(start, end uint32, e rawformat.PageEntry) bool {
	return rawformat.PageCRC(c.header.Instance, c.header.Epoch, c.data[start:end]) == e.CRC()
}

// entry is a page's word in the page table, 0 if the file ends before it.
func (c *content) entry(p int) rawformat.PageEntry {
	at := rawformat.HeaderSize + 8*p
	if at+8 > len(c.head) {
		return 0
	}
	return rawformat.PageEntry(binary.LittleEndian.Uint64(c.head[at:]))
}

func (c *content) lostPage(p int, what string, size uint32) {
	class := Damaged
	if c.trailer == trailerDiffers {
		class = Foreign
	}
	c.pageProblem(p, class, what, -1, int64(size))
}

func (c *content) judgeUnsealed(p int, size uint32) verdict {
	switch {
	case c.trailer == trailerDiffers:
		c.lostPage(p, "the file was reused while it was copied", size)
		return lost
	case !c.commitOK: // it is not known how much of it was written
		return lost
	}
	return unproven
}

// unprovenBytes is how many bytes are read without a checksum.
func (c *content) unprovenBytes() (n int64) {
	for i, p := range c.pages[:rawformat.Pages(c.end())] {
		if p.verdict == unproven {
			n += int64(p.end - pageStart(i))
		}
	}
	return n
}

// until is the offset of the first byte at or after o that must not be read.
func (c *content) until(o uint32) uint32 {
	for p := int(o / rawformat.PageSize); p < len(c.pages); p++ {
		if pg := c.pages[p]; pg.verdict == lost {
			return pageStart(p)
		} else if pg.end < pageStart(p+1) {
			return pg.end
		}
	}
	return uint32(len(c.data))
}
