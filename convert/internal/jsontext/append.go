package jsontext

import (
	"math"
	"strconv"
	"unicode/utf8"
)

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
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}

// AppendFloat appends the shortest text that reads back as f. JSON has no
// infinities and no NaN: they become null.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// AppendMillis appends ns nanoseconds in milliseconds: exactly, with at most
// six decimals and no trailing zeros. It is [AppendFixed] with constant
// divisors, twice as fast.
func AppendMillis(dst []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		dst, u = append(dst, '-'), -u
	}
	dst = strconv.AppendUint(dst, u/1_000_000, 10)
	rest := uint32(u % 1_000_000)
	if rest == 0 {
		return dst
	}
	a, b, c := 2*(rest/10_000), 2*(rest/100%100), 2*(rest%100)
	dst = append(dst, '.', pairs[a], pairs[a+1], pairs[b], pairs[b+1], pairs[c], pairs[c+1])
	return trimZeros(dst)
}

// AppendFixed appends n·10^-decimals exactly, without trailing zeros; decimals
// is 0 to 18.
func AppendFixed(dst []byte, n int64, decimals int) []byte {
	u := uint64(n)
	if n < 0 {
		dst, u = append(dst, '-'), -u
	}
	whole, rest := u/powers[decimals], u%powers[decimals]
	dst = strconv.AppendUint(dst, whole, 10)
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for i := decimals - 1; i >= 0; i-- {
		dst = append(dst, byte('0'+rest/powers[i]%10))
	}
	return trimZeros(dst)
}

// trimZeros cuts zeros from the end of a number that has a digit that is none.
func trimZeros(dst []byte) []byte {
	n := len(dst)
	for dst[n-1] == '0' {
		n--
	}
	return dst[:n]
}

// pairs are the numbers 00 to 99.
var pairs = func() (t [200]byte) {
	for i := range 100 {
		t[2*i], t[2*i+1] = byte('0'+i/10), byte('0'+i%10)
	}
	return t
}()

var powers = func() (t [19]uint64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = 10 * t[i-1]
	}
	return t
}()
