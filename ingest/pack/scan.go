package pack

import (
	"bytes"
	"errors"
	"io"

	"gprof/chunks/sections"
	"gprof/rawformat"
)

// scan goes over the sections of an archive:
//  1. A section that fits is taken.
//  2. One of a later version, or one that is too big, is passed over by its size.
//  3. Behind a header that is damaged the next one that is not is searched for.
//  4. Behind the end nothing counts; without one the archive is cut short.
//
// The error is the reader's.
func (a *Archive) scan() error {
	b := make([]byte, sections.HeaderSize)
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
		case err == nil:
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

// end looks at the last section.
func (a *Archive) end(h *sections.Header, next int64, before int) {
	if h.Number != uint32(before) {
		a.problem(next-sections.HeaderSize, "number of sections", rawformat.ErrSyntax)
	}
	if next < a.size {
		a.problem(next, "bytes behind the end of the archive", rawformat.ErrSyntax)
	}
}

// read fills dst with the bytes at off and returns those that the archive has.
func (a *Archive) read(dst []byte, off int64) ([]byte, error) {
	dst = dst[:max(0, min(int64(len(dst)), a.size-off))]
	n, err := a.r.ReadAt(dst, off)
	if n == len(dst) || errors.Is(err, io.EOF) {
		err = nil
	}
	return dst[:n], err
}

// searchStep is how many bytes are searched at once.
const searchStep = 64 << 10

// search finds the first section header at or behind an offset that fits its
// checksum; the end of the archive if there is none.
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
