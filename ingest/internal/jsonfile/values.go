package jsonfile

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads the next string.
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

// AppendText appends the decoded string raw; for other values nothing.
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

// AppendEscape decodes the escape at the beginning of raw, after the backslash, where at least one
// byte is. Invalid escapes stand for themselves.
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

// hex4 parses u and four digits.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 5 || raw[0] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[1:5]), 16, 16)
	return rune(n), err == nil
}

// maxDigits is how many decimal digits always fit an int64.
const maxDigits = 18

// Fixed parses a number as a multiple of 10^-digits, rounded half away from zero. It reports
// whether text is a number that fits.
func Fixed(text []byte, digits int) (n int64, ok bool) {
	all, rest, negative := digits, text, false
	if len(rest) > 0 && rest[0] == '-' {
		rest, negative = rest[1:], true
	}
	seen, dot, round := 0, false, false
	for i, c := range rest {
		switch {
		case c == '.' && !dot && i > 0:
			dot = true
		case c < '0' || c > '9':
			return fixedFloat(text, all)
		case dot && digits == 0:
			round = round || seen >= 0 && c >= '5'
			seen = math.MinInt // only the first one that is left out counts
		default:
			if n > (math.MaxInt64-9)/10 {
				return fixedFloat(text, all)
			}
			n, seen = n*10+int64(c-'0'), seen+1
			if dot {
				digits--
			}
		}
	}
	if len(rest) == 0 {
		return 0, false
	}
	if round {
		n++
	}
	for ; digits > 0; digits-- {
		if n > math.MaxInt64/10 {
			return 0, false
		}
		n *= 10
	}
	if negative {
		n = -n
	}
	return n, true
}

// fixedFloat is Fixed for a number with an exponent, or many digits.
func fixedFloat(text []byte, digits int) (int64, bool) {
	if n, err := strconv.ParseInt(string(text), 10, 64); digits == 0 && err == nil && text[0] != '+' {
		return n, true // a float would round it
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || len(text) > 0 && text[0] > '9' {
		return 0, false
	}
	f = math.Round(f * math.Pow10(digits))
	if math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// Int parses a number without a fraction.
func Int(text []byte) (n int64, ok bool) {
	if len(text) == 0 || len(text) > maxDigits+2 {
		return 0, false
	}
	rest, negative := text, false
	if rest[0] == '-' {
		rest, negative = rest[1:], true
	}
	if len(rest) == 0 || len(rest) > maxDigits {
		n, err := strconv.ParseInt(string(text), 10, 64)
		return n, err == nil
	}
	for _, c := range rest {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
