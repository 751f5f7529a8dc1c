package jsonfile

import (
	"bytes"

	"gprof/ingest/internal/extent"
)

// Member is a member of an object in memory.
type Member struct {
	Key   []byte // decoded
	Value []byte // JSON
}

// Next returns the next element of a list, which begins at off. If it is not ok, the list has ended.
func (s *Scanner) Next() (raw []byte, off int64, ok bool) {
	if at := s.element(); at > 0 {
		if end := extent.Of(s.buf, at); end > 0 && end-at <= maxText {
			s.pos = end
			return s.buf[at:end], s.base + int64(at), true
		}
	}
	if !s.More() {
		return nil, s.Off(), false
	}
	off = s.Off()
	return s.Raw(), off, true
}

// element is where the next element or member begins in buf if no white space is before it, else 0.
func (s *Scanner) element() int {
	at := s.pos
	if at < len(s.buf) && s.buf[at] == ',' {
		at++
	}
	if at < len(s.buf) && kinds[s.buf[at]] != None {
		return at
	}
	return 0
}

// NextList is Next for an element that should be a list, and appends its elements to dst; whole is whether it is one, and
// they are intact.
func (s *Scanner) NextList(dst [][]byte) (all [][]byte, whole bool, off int64, ok bool) {
	if at := s.element(); at > 0 && s.buf[at] == '[' {
		inner := Scanner{buf: s.buf, pos: at + 1}
		if all := inner.here(dst); inner.pos > 0 {
			s.pos = inner.pos
			return all, true, s.base + int64(at), true
		}
	}
	raw, off, ok := s.Next()
	all, whole = Elements(dst, raw)
	return all, whole && len(raw) > 0 && raw[0] == '[', off, ok
}

// here appends the elements of a list to its end, if no white space is in between, all of it is in buf, and it ends where Skip says it
// does; else pos is 0.
func (s *Scanner) here(dst [][]byte) [][]byte {
	for first := true; s.pos < len(s.buf); first = false {
		switch c := s.buf[s.pos]; {
		case c == ']':
			s.pos++
			return dst
		case first:
		case c == ',' && s.pos+1 < len(s.buf):
			s.pos++
		default:
			s.pos = 0
			return dst
		}
		end := extent.Of(s.buf, s.pos)
		if end < 0 {
			break
		}
		element := s.buf[s.pos:end]
		if element[0] == '{' && (bytes.IndexByte(element, '[') >= 0 || bytes.IndexByte(element, ']') >= 0) {
			break // which may not be closed in it
		}
		dst = append(dst, element)
		s.pos = end
	}
	s.pos = 0
	return dst
}

// Elements appends the elements of a list in memory, and reports whether it is intact. What is no list has none.
func Elements(dst [][]byte, text []byte) (all [][]byte, whole bool) {
	if len(text) == 0 || text[0] != '[' {
		return dst, true
	}
	s := Bytes(text, 0)
	for s.Array(); ; {
		raw, _, ok := s.Next()
		if !ok || s.err != nil {
			return dst, s.err == nil
		}
		dst = append(dst, raw)
	}
}

// Members appends the members of an object in memory, and reports whether it is intact. What is no object has none.
func Members(dst []Member, text []byte) (all []Member, whole bool) {
	if len(text) == 0 || text[0] != '{' {
		return dst, true
	}
	s := Bytes(text, 0)
	for s.Object(); ; {
		m, ok := s.member()
		if !ok {
			key, more := s.Key()
			if !more {
				return dst, s.err == nil
			}
			if m = (Member{Key: bytes.Clone(key), Value: s.Raw()}); s.err != nil {
				return dst, false
			}
		}
		dst = append(dst, m)
	}
}

// member takes the next member, if it is written as most are: without white space, and without escapes in its key.
func (s *Scanner) member() (m Member, ok bool) {
	at := s.element()
	if at == 0 || s.buf[at] != '"' {
		return m, false
	}
	for end := at + 1; end < len(s.buf)-2; end++ {
		switch s.buf[end] {
		case '\\':
			return m, false
		case '"':
			if s.buf[end+1] != ':' {
				return m, false
			}
			value := end + 2
			if to := extent.Of(s.buf, value); to > 0 && to-value <= maxText {
				s.pos = to
				return Member{s.buf[at+1 : end], s.buf[value:to]}, true
			}
			return m, false
		}
	}
	return m, false
}
