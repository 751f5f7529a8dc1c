package jsonfile

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads the string that comes next.
func (s *Scanner) Text() []byte {
	if s.Kind() != String {
		s.fail(ErrSyntax, "a string")
		return nil
	}
	raw := s.Raw()
	if s.err != nil {
		return nil
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	s.text = AppendText(s.text[:0], raw)
	return s.text
}

// AppendText appends what a string says, whose text is raw: its quotes and
// escapes are gone. Of a value that is no string nothing is appended.
func AppendText(dst, raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return dst
	}
	for raw = raw[1 : len(raw)-1]; ; {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 == len(raw) {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		dst, raw = AppendEscape(dst, raw[i+1:])
	}
}

// escapes are those of one letter.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendEscape appends what is escaped at the beginning of raw, behind the
// backslash, where at least one byte stands. What is no escape stands for itself.
func AppendEscape(dst, raw []byte) (with, rest []byte) {
	if c := escapes[raw[0]]; c != 0 {
		return append(dst, c), raw[1:]
	}
	r, ok := hex4(raw)
	if !ok {
		return append(dst, raw[0]), raw[1:]
	}
	raw = raw[5:]
	if utf16.IsSurrogate(r) {
		low, ok := rune(0), false
		if len(raw) > 0 && raw[0] == '\\' {
			low, ok = hex4(raw[1:])
		}
		if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
			raw = raw[6:]
		}
	}
	return utf8.AppendRune(dst, r), raw
}

// hex4 reads u and four digits.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 5 || raw[0] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[1:5]), 16, 16)
	return rune(n), err == nil
}
