package chunks

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"gprof/rawformat"
)

// The text twin of a file is lines; [FormatFile] writes it, [ParseFile] reads
// it, and the bytes come back exactly. The lines of a chunk are, in this order:
//
//	gprC instance=0x1f epoch=5 commit=120/4 range-start=1 …    the header
//	open tsc=1 monotonic=2 realtime=3                          anchors that are not zero
//	close tsc=7 monotonic=8 realtime=9
//	sealed 2                                                   so many pages have the right entry
//	entry 1 0x1000000000000                                    a page's entry is this instead
//	sync index=1 …                                             blocks, see rawformat
//	wide 2 pause time=+1 what=0                                a block whose length takes more bytes than it needs
//	bytes 0a0b0c                                               bytes that are not a block
//	zero 300                                                   so many zero bytes
//	uncommitted                                                what follows lies above the commit
//	trailer instance=0x1f epoch=4                              if it is not the header's
//	cut                                                        the file ends here
//
// Unless there is a line cut, zeros up to the capacity and the trailer follow; after a
// trailer line there may be more bytes. In a dictionary, meta or exit file a header line
// with the magic is followed by records, and a record by a line
//
//	crc 0x1234abcd
//
// if its checksum is wrong. A file without a header line consists of bytes only. Wrong
// checksums of headers are words of the header line (crc, close-crc).
//
// Text that is written by hand may leave out values that are zero, the commit (everything
// before the line uncommitted, or the end) and the capacity (that of a 64 KiB file). Empty
// lines and those that begin with # are ignored.
const (
	wordOpen        = "open"
	wordClose       = "close"
	wordSealed      = "sealed"
	wordEntry       = "entry"
	wordWide        = "wide"
	wordBytes       = "bytes"
	wordZero        = "zero"
	wordUncommitted = "uncommitted"
	wordTrailer     = "trailer"
	wordCut         = "cut"
	wordCRC         = "crc"
)

// maxZero is the longest run of zero bytes that one line may stand for.
const maxZero = 1 << 20

// headWord is one word of a header line: its name, and a pointer to the field that it
// stands for.
type headWord struct {
	name  string
	field any
	hex   bool
}

func chunkWords(h *rawformat.Header) []headWord {
	return []headWord{
		{"version", &h.Version, false},
		{"flags", &h.Flags, true},
		{"instance", &h.Instance, true},
		{"epoch", &h.Epoch, false},
		{"commit", &h.Commit, false},
		{"range-start", &h.RangeStart, false},
		{"capacity", &h.Capacity, false},
		{"first-block", &h.FirstBlock, false},
		{"pid", &h.Pid, false},
		{"writer", &h.Writer, false},
		{"generation", &h.Generation, false},
		{"discarded", &h.Discarded, false},
		{"state", &h.State, false},
		{"held", &h.Held, false},
	}
}

func anchorWords(a *rawformat.Anchor) []headWord {
	return []headWord{{"tsc", &a.TSC, false}, {"monotonic", &a.Monotonic, false}, {"realtime", &a.Realtime, false}}
}

func recordWords(h *rawformat.RecordHeader) []headWord {
	return []headWord{
		{"version", &h.Version, false},
		{"instance", &h.Instance, true},
		{"generation", &h.Generation, false},
		{"pid", &h.Pid, false},
	}
}

func trailerWords(instance, epoch *uint64) []headWord {
	return []headWord{{"instance", instance, true}, {"epoch", epoch, false}}
}

func appendWords(dst []byte, words []headWord) []byte {
	for _, w := range words {
		dst = append(append(append(dst, ' '), w.name...), '=')
		switch f := w.field.(type) {
		case *int64:
			dst = strconv.AppendInt(dst, *f, 10)
		case *rawformat.Commit:
			dst = fmt.Appendf(dst, "%d/%d", f.Offset(), f.Blocks())
		default:
			dst = appendNumber(dst, numberOf(f), w.hex)
		}
	}
	return dst
}

func appendNumber(dst []byte, v uint64, hex bool) []byte {
	if hex {
		return strconv.AppendUint(append(dst, "0x"...), v, 16)
	}
	return strconv.AppendUint(dst, v, 10)
}

func numberOf(field any) uint64 {
	switch f := field.(type) {
	case *uint16:
		return uint64(*f)
	case *uint32:
		return uint64(*f)
	case *uint64:
		return *f
	case *rawformat.State:
		return uint64(*f)
	}
	panic(fmt.Sprintf("internal error: no text form of a %T", field))
}

func (w *headWord) set(value string) (err error) {
	var u uint64
	switch f := w.field.(type) {
	case *int64:
		*f, err = strconv.ParseInt(value, 0, 64)
	case *uint16:
		u, err = strconv.ParseUint(value, 0, 16)
		*f = uint16(u)
	case *uint32:
		u, err = strconv.ParseUint(value, 0, 32)
		*f = uint32(u)
	case *uint64:
		*f, err = strconv.ParseUint(value, 0, 64)
	case *rawformat.State:
		u, err = strconv.ParseUint(value, 0, 32)
		*f = rawformat.State(u)
	case *rawformat.Commit:
		*f, err = parseCommit(value)
	}
	if err != nil {
		return syntaxError(w.name + " " + strconv.Quote(value))
	}
	return nil
}

func parseCommit(value string) (rawformat.Commit, error) {
	offset, blocks, _ := strings.Cut(value, "/")
	o, err := strconv.ParseUint(offset, 0, 32)
	if err != nil {
		return 0, err
	}
	b, err := strconv.ParseUint(blocks, 0, 32)
	return rawformat.MakeCommit(uint32(o), uint32(b)), err
}

func syntaxError(what string) error {
	return &rawformat.Error{What: what, Err: rawformat.ErrSyntax}
}

// layout is a chunk file in parts, while it is turned into text or back. The page table
// follows from the rest, except for odd entries.
type layout struct {
	header  rawformat.Header
	payload []byte         // as far as the file or the text has it
	firsts  map[int]uint32 // by page: where the first block begins in it
}

// note records that a block begins at an offset, and reports whether it is the first in
// its page.
func (l *layout) note(at uint32) (first bool) {
	p := int(at / rawformat.PageSize)
	if _, ok := l.firsts[p]; ok {
		return false
	}
	l.firsts[p] = at % rawformat.PageSize
	return true
}

// entry is the correct entry of a sealed page.
func (l *layout) entry(p int) rawformat.PageEntry {
	first, ok := l.firsts[p]
	if !ok {
		first = rawformat.PageSize
	}
	end := min(uint32(len(l.payload)), l.header.Commit.Offset())
	begin := min(end, pageStart(p))
	crc := rawformat.PageCRC(l.header.Instance, l.header.Epoch, l.payload[begin:min(end, pageStart(p+1))])
	return rawformat.MakePageEntry(crc, first)
}

// tablePages is how many entries fit between header and payload.
const tablePages = (rawformat.HeadSize - rawformat.HeaderSize) / 8

// head builds header and page table. The first sealed entries are correct, except for
// those in odd.
func (l *layout) head(sealed int, odd map[int]rawformat.PageEntry) []byte {
	head := make([]byte, rawformat.HeadSize)
	rawformat.PutHeader(head, &l.header)
	for p := range tablePages {
		e, ok := odd[p]
		if !ok && p < sealed {
			e = l.entry(p)
		}
		binary.LittleEndian.PutUint64(head[rawformat.HeaderSize+8*p:], uint64(e))
	}
	return head
}
