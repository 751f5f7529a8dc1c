package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"gprof/chunks/sections"
	"gprof/rawformat"
)

var le = binary.LittleEndian

// index is the contents of a process section.
type index struct {
	live  bool
	files []entry // by range start, then number
}

// entry is a chunk file of an index.
type entry struct {
	number uint32
	size   uint32                     // of the file
	header [rawformat.HeaderSize]byte // its first bytes, padded with zeros
	part                              // what is being packed, else nothing
	cut    *entry                     // when packing, the chunk that it is a part of; nil: whole
	nth    int                        // part of cut
}

// appendIndex appends the raw bytes of a process section.
func appendIndex(dst []byte, x *index) []byte {
	var flags uint32
	if x.live {
		flags |= sections.FlagLive
	}
	dst = le.AppendUint32(dst, flags)
	dst = le.AppendUint32(dst, uint32(len(x.files)))
	dst = le.AppendUint64(dst, 0)
	for i := range x.files {
		e := &x.files[i]
		dst = le.AppendUint32(dst, e.number)
		dst = le.AppendUint32(dst, e.size)
		dst = append(dst, e.header[:]...)
	}
	return dst
}

func readIndex(b []byte) (*index, error) {
	if len(b) < sections.IndexHead || (len(b)-sections.IndexHead)%sections.EntrySize != 0 || uint64(le.Uint32(b[4:])) != uint64((len(b)-sections.IndexHead)/sections.EntrySize) {
		return nil, fmt.Errorf("%w: index of %d bytes", rawformat.ErrSyntax, len(b))
	}
	x := &index{live: le.Uint32(b)&sections.FlagLive != 0, files: make([]entry, 0, le.Uint32(b[4:]))}
	for at := sections.IndexHead; at < len(b); at += sections.EntrySize {
		e := entry{number: le.Uint32(b[at:]), size: le.Uint32(b[at+4:])}
		if e.size > rawformat.MaxChunkFile {
			return nil, fmt.Errorf("%w: entry %d of the index", rawformat.ErrSyntax, len(x.files))
		}
		copy(e.header[:], b[at+8:])
		x.files = append(x.files, e)
	}
	return x, nil
}

// epoch is the chunk's, 0 if it is not in use.
func (e *entry) epoch() uint64 {
	h, _, err := rawformat.ReadHeader(e.header[:])
	if err != nil {
		return 0
	}
	return h.Epoch
}

// leftOut reports whether the entry is all that a slice left of its chunk.
func (e *entry) leftOut() bool {
	return e.size == rawformat.HeadSize && rawformat.State(le.Uint32(e.header[rawformat.OffState:])) == rawformat.StateLeftOut
}

// leaveOut makes it so.
func (e *entry) leaveOut() {
	e.size = rawformat.HeadSize
	le.PutUint32(e.header[rawformat.OffState:], uint32(rawformat.StateLeftOut))
}

// Limits of what a reader accepts, each checked before allocating.
const (
	maxProblems = 1000

	// segmentSize is the approximate size of a dictionary's segments, and maxSegment more than any
	// segment has: the rest after the last record, which may be large, or a chunk file.
	segmentSize = 512 << 10
	maxSegment  = segmentSize + rawformat.MaxBlock + 1<<10
)

// scan reads the sections of an archive:
//
//  1. An intact section is taken.
//  2. One of a later version, or too large, is skipped by its size.
//  3. After a damaged header the next intact one is searched.
//  4. Nothing counts after the end; without an end the archive is cut short.
//
// The error is the reader's.
func (a *Archive) scan() error {
	b := make([]byte, sections.HeaderSize)
	var headers []byte
	for at, n := int64(0), 0; ; n++ {
		head, err := a.read(b, at)
		if err != nil {
			return err
		}
		h, err := sections.Read(head, at)
		next := at + sections.HeaderSize + int64(h.Size)
		switch {
		case n == sections.MaxSections:
			a.problem(at, "number of sections", rawformat.ErrTooBig)
			return nil
		case err == nil && h.Kind == sections.End:
			a.end(&h, next, n)
			return nil
		case err == nil && h.Kind == sections.Directory:
			err = a.compare(&section{h, at + sections.HeaderSize}, headers)
		case err == nil:
			headers = append(headers, head[len(sections.Magic):]...)
			err = a.add(section{h, at + sections.HeaderSize})
		case errors.Is(err, rawformat.ErrTruncated):
			a.problem(a.size, "end of the archive", rawformat.ErrTruncated)
			return nil
		case errors.Is(err, rawformat.ErrVersion) || errors.Is(err, rawformat.ErrTooBig):
			a.note(err)
			err = nil
		default:
			a.note(err)
			next, err = a.search(at + 1)
		}
		if err != nil {
			return err
		}
		at = min(next, a.size)
	}
}

// end checks the last section.
func (a *Archive) end(h *sections.Header, next int64, before int) {
	if h.Number != uint32(before) {
		a.problem(next-sections.HeaderSize, "number of sections", rawformat.ErrSyntax)
	}
	if next < a.size {
		a.problem(next, "bytes behind the end of the archive", rawformat.ErrSyntax)
	}
}

// read fills dst with the bytes at off and returns those that exist.
func (a *Archive) read(dst []byte, off int64) ([]byte, error) {
	dst = dst[:max(0, min(int64(len(dst)), a.size-off))]
	n, err := a.r.ReadAt(dst, off)
	if n == len(dst) || errors.Is(err, io.EOF) {
		err = nil
	}
	return dst[:n], err
}

// searchStep is the bytes searched at once.
const searchStep = 64 << 10

// search finds the first intact section header at or after an offset, or the end of the archive.
func (a *Archive) search(at int64) (int64, error) {
	buf := make([]byte, searchStep+sections.HeaderSize)
	for ; at < a.size; at += searchStep {
		b, err := a.read(buf, at)
		if err != nil {
			return 0, err
		}
		for i := 0; i < min(len(b), searchStep); i++ {
			o := bytes.Index(b[i:], []byte(sections.Magic))
			if o < 0 {
				break
			}
			i += o
			if _, err := sections.Read(b[i:], 0); err == nil {
				return at + int64(i), nil
			}
		}
	}
	return a.size, nil
}
