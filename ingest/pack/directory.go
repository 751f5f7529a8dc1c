package pack

import (
	"bytes"
	"errors"

	"gprof/chunks/sections"
	"gprof/rawformat"
)

// directory takes the sections that the directory lists. Nothing is found if there is none, or it
// is damaged. The error is the reader's.
func (a *Archive) directory() (found bool, err error) {
	end, ok, err := a.header(a.size - sections.HeaderSize)
	if !ok || end.Kind != sections.End || end.Instance == 0 || end.Instance > uint64(a.size) {
		return false, err
	}
	at := int64(end.Instance)
	h, ok, err := a.header(at)
	if !ok || h.Kind != sections.Directory || at+sections.HeaderSize+int64(h.Size)+sections.HeaderSize != a.size {
		return false, err
	}
	s := section{h, at + sections.HeaderSize}
	stored, err := a.stored(&s)
	if err != nil {
		return false, err
	}
	headers := make([]byte, h.RawSize)
	if a.decoder.decode(headers, &h, stored) != nil {
		return false, nil
	}
	listed, ok := readDirectory(headers, at)
	if !ok || len(listed)+1 != int(end.Number) {
		return false, nil
	}
	for _, s := range listed {
		if err := a.add(s); err != nil {
			return false, err
		}
	}
	return true, nil
}

// header reads the header at an offset. It is not ok if there is none.
func (a *Archive) header(at int64) (h sections.Header, ok bool, err error) {
	if at < 0 {
		return h, false, nil
	}
	b, err := a.read(make([]byte, sections.HeaderSize), at)
	if err != nil {
		return h, false, err
	}
	h, bad := sections.Read(b, at)
	return h, bad == nil, nil
}

// readDirectory reads the raw bytes of a directory, whose sections end where it begins. It is not
// ok if one of them is of a kind that is not known, or they don't fill the archive up to there.
func readDirectory(b []byte, begins int64) (all []section, ok bool) {
	const size = sections.HeaderSize - len(sections.Magic)
	at, head := int64(0), []byte(sections.Magic)
	for ; len(b) >= size; b = b[size:] {
		head = append(head[:len(sections.Magic)], b[:size]...)
		h, err := sections.Read(head, at)
		if err != nil || h.Kind == sections.End || h.Kind == sections.Directory {
			return nil, false
		}
		all = append(all, section{h, at + sections.HeaderSize})
		at += sections.HeaderSize + int64(h.Size)
	}
	return all, len(b) == 0 && at == begins
}

// compare notes that the directory is damaged, or is not of the headers in their places. If one
// of them was damaged that is known. The error is the reader's.
func (a *Archive) compare(s *section, headers []byte) error {
	raw, err := a.content(s)
	var format *rawformat.Error
	switch {
	case errors.As(err, &format):
		a.note(err)
		return nil
	case err == nil && len(a.Problems) == 0 && !bytes.Equal(raw, headers):
		a.problem(s.at, "directory of the archive", rawformat.ErrSyntax)
	}
	return err
}
