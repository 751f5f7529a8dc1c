package chunks

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"

	"gprof/rawformat"
)

// FormatFile writes the text twin of the bytes of a file: a chunk, dictionary, meta or exit
// file, whole or damaged. The error is that of w.
func FormatFile(w io.Writer, data []byte) error {
	var f formatter
	switch Sniff(data) {
	case ChunkFile:
		f.chunk(data)
	case DictFile, MetaFile, ExitFile:
		f.records(data)
	default:
		f.raw(data)
	}
	_, err := w.Write(f.out)
	return err
}

// Inspect writes the text twin of a file. The error is that of w or of reading, or says
// that the file cannot be ours: it is not regular, or too large.
func Inspect(w io.Writer, fsys fs.FS, name string) error {
	in, err := openInput(fsys, name, rawformat.MaxRecordFile)
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := in.readAll(nil, rawformat.MaxRecordFile)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return FormatFile(w, data)
}

// formatter gathers the text of one file.
type formatter struct{ out []byte }

func (f *formatter) line(format string, args ...any) {
	f.out = append(fmt.Appendf(f.out, format, args...), '\n')
}

func (f *formatter) block(body []byte) { f.out = append(rawformat.FormatBlock(f.out, body), '\n') }

// rawLine is the number of bytes in one line.
const rawLine = 32

// raw writes bytes without meaning. Runs of at least minRun zeros are counted.
func (f *formatter) raw(b []byte) {
	const minRun = 16
	for len(b) > 0 {
		n := min(len(b), rawLine)
		if zeros := zeroRun(b[:min(len(b), maxZero)]); zeros >= minRun || zeros == len(b) {
			n = zeros
			f.line("%s %d", wordZero, n)
		} else {
			if i := bytes.Index(b[:n], make([]byte, minRun)); i > 0 {
				n = i
			}
			f.out = append(hex.AppendEncode(append(f.out, wordBytes+" "...), b[:n]), '\n')
		}
		b = b[n:]
	}
}

func zeroRun(b []byte) (n int) {
	for n < len(b) && b[n] == 0 {
		n++
	}
	return n
}

// chunk writes a chunk file. One without a whole head page, or with a capacity that no file
// may have, is written as bytes.
func (f *formatter) chunk(data []byte) {
	var l layout
	l.header, _, _ = rawformat.ReadHeader(data) // errors show in the text
	if len(data) < rawformat.HeadSize || l.header.Capacity > maxPayload {
		f.raw(data)
		return
	}
	head, rest := data[:rawformat.HeadSize], data[rawformat.HeadSize:]
	capacity := int(l.header.Capacity)
	cut := len(rest) < capacity+rawformat.TrailerSize
	l.payload, l.firsts = rest, map[int]uint32{}
	if !cut {
		l.payload, rest = rest[:capacity], rest[capacity:]
	}
	body := formatter{}
	body.payload(&l, head, cut)
	f.head(&l, head)
	f.out = append(f.out, body.out...)
	if cut {
		f.line(wordCut)
		return
	}
	f.end(&l, rest)
}

// head writes the lines of header and page table.
func (f *formatter) head(l *layout, head []byte) {
	h := &l.header
	f.out = appendWords(append(f.out, rawformat.MagicChunk...), chunkWords(h))
	sealed, odd := oddEntries(l, head)
	right := l.head(0, nil)
	f.crc("crc", head, right, rawformat.OffFixedCRC)
	f.crc("close-crc", head, right, rawformat.OffCloseCRC)
	f.out = append(f.out, '\n')
	if h.Open != (rawformat.Anchor{}) {
		f.out = append(appendWords(append(f.out, wordOpen...), anchorWords(&h.Open)), '\n')
	}
	if h.Close != (rawformat.Anchor{}) {
		f.out = append(appendWords(append(f.out, wordClose...), anchorWords(&h.Close)), '\n')
	}
	if sealed > 0 {
		f.line("%s %d", wordSealed, sealed)
	}
	for _, p := range odd {
		f.line("%s %d %#x", wordEntry, p, uint64(entryAt(head, p)))
	}
}

// crc writes a checksum if it is wrong.
func (f *formatter) crc(name string, got, want []byte, off int) {
	if sum := got[off : off+4]; !bytes.Equal(sum, want[off:off+4]) {
		f.out = fmt.Appendf(f.out, " %s=%#x", name, binary.LittleEndian.Uint32(sum))
	}
}

// oddEntries returns up to which page the table has entries, and which of them are
// wrong.
func oddEntries(l *layout, head []byte) (sealed int, odd []int) {
	for p := range tablePages {
		if entryAt(head, p) != 0 {
			sealed = p + 1
		}
	}
	for p := range sealed {
		if entryAt(head, p) != l.entry(p) {
			odd = append(odd, p)
		}
	}
	return sealed, odd
}

func entryAt(head []byte, p int) rawformat.PageEntry {
	return rawformat.PageEntry(binary.LittleEndian.Uint64(head[rawformat.HeaderSize+8*p:]))
}

// payload writes the blocks, and then what is not committed.
func (f *formatter) payload(l *layout, head []byte, cut bool) {
	c := textContent(l, head)
	end := uint32(len(c.data))
	at := min(l.header.FirstBlock, end)
	f.raw(c.data[:at])
	for at < end {
		next, ok := f.blockLine(l, c, at)
		if !ok {
			next = end
			for p := int(at/rawformat.PageSize) + 1; p < len(c.pages); p++ {
				if o, ok := c.firstIn(p); ok {
					next = o
					break
				}
			}
			f.raw(c.data[at:next])
		}
		at = next
	}
	rest := l.payload[end:]
	if !cut {
		rest = bytes.TrimRight(rest, "\x00")
	}
	if len(rest) > 0 {
		f.line(wordUncommitted)
		f.raw(rest)
	}
}

// textContent makes the committed payload readable for the helpers of walk. All pages
// count, whatever their checksum.
func textContent(l *layout, head []byte) *content {
	c := &content{header: l.header, data: l.payload[:min(len(l.payload), int(l.header.Commit.Offset()))]}
	for p := range rawformat.Pages(uint32(len(c.data))) {
		pg := page{verdict: unproven, end: min(pageStart(p+1), uint32(len(c.data)))}
		if e := entryAt(head, p); e.Sealed() && e.First() < rawformat.PageSize {
			pg.verdict, pg.first = proven, pageStart(p)+e.First()
		}
		c.pages = append(c.pages, pg)
	}
	return c
}

// blockLine writes the block at an offset, if there is one.
func (f *formatter) blockLine(l *layout, c *content, at uint32) (next uint32, ok bool) {
	body, next, err := c.blockAt(at, uint32(len(c.data)))
	if err != nil {
		return 0, false
	}
	if l.note(at) {
		f.line("# page %d", at/rawformat.PageSize)
	}
	if width := int(body - at); width != rawformat.UintSize(uint64(next-body)) {
		f.out = fmt.Appendf(f.out, "%s %d ", wordWide, width)
	}
	f.block(c.data[body:next])
	return next, true
}

// end writes the trailer if it doesn't match the header, and everything after it.
func (f *formatter) end(l *layout, b []byte) {
	instance, epoch := rawformat.ReadTrailer(b)
	more := b[rawformat.TrailerSize:]
	if instance != l.header.Instance || epoch != l.header.Epoch || len(more) > 0 {
		f.out = append(appendWords(append(f.out, wordTrailer...), trailerWords(&instance, &epoch)), '\n')
	}
	f.raw(more)
}

// records writes a dictionary, meta or exit file.
func (f *formatter) records(data []byte) {
	h, crc, ok := textHeader(data)
	if !ok {
		f.raw(data)
		return
	}
	f.out = appendWords(append(f.out, h.Magic...), recordWords(&h))
	f.crc("crc", data, crc, rawformat.OffRecordCRC)
	f.out = append(f.out, '\n')
	s := newRecordScan("", data, h, nil)
	for at := rawformat.RecordHeaderSize; at < len(data); {
		_, next, err := s.record(at)
		if next > 0 {
			f.record(&s, at, next, err == nil)
		} else {
			next = s.resume(at, next)
			f.raw(data[at:next])
		}
		at = next
	}
}

// textHeader reads the header of a record file; right is what it should be. It is not ok if
// more than the checksum differs.
func textHeader(data []byte) (h rawformat.RecordHeader, right []byte, ok bool) {
	if len(data) < rawformat.RecordHeaderSize {
		return h, nil, false
	}
	h, _ = rawformat.ReadRecordHeader(data)
	right = rawformat.AppendRecordHeader(nil, &h)
	got := bytes.Clone(data[:rawformat.RecordHeaderSize])
	copy(got[rawformat.OffRecordCRC:], right[rawformat.OffRecordCRC:rawformat.OffRecordCRC+4])
	return h, right, bytes.Equal(got, right)
}

// record writes the record at an offset.
func (f *formatter) record(s *recordScan, at, next int, intact bool) {
	n, size, _ := rawformat.ReadUint(s.data[at:])
	if size != rawformat.UintSize(n) {
		f.out = fmt.Appendf(f.out, "%s %d ", wordWide, size)
	}
	f.block(s.data[at+size : next-4])
	if !intact {
		f.line("%s %#x", wordCRC, binary.LittleEndian.Uint32(s.data[next-4:]))
	}
}
