package jsontext

import "unicode/utf8"

// AppendString appends s as a JSON string. Bytes that are not valid UTF-8
// become U+FFFD, one for each.
func AppendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		if plain[s[i]] {
			i++
			continue
		}
		dst = append(dst, s[done:i]...)
		dst, i = appendSpecial(dst, s, i)
		done = i
	}
	dst = append(dst, s[done:]...)
	return append(dst, '"')
}

// plain are the bytes that stand for themselves in a JSON string.
var plain = func() (t [256]bool) {
	for b := byte(' '); b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

// appendSpecial appends the character at s[i], which is not plain, and returns
// the position behind it.
func appendSpecial[S ~string | ~[]byte](dst []byte, s S, i int) ([]byte, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return appendEscape(dst, b), i + 1
	}
	// A string this short is not allocated.
	r, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
	return utf8.AppendRune(dst, r), i + size
}

func appendEscape(dst []byte, b byte) []byte {
	const hex = "0123456789abcdef"
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}
