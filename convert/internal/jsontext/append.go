package jsontext

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
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

// plain are the bytes that need no escape in a JSON string.
var plain = func() (t [256]bool) {
	for b := byte(' '); b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

// appendSpecial appends the character at s[i], which needs an escape or is invalid, and
// returns the position after it.
func appendSpecial[S ~string | ~[]byte](dst []byte, s S, i int) ([]byte, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return appendEscape(dst, b), i + 1
	}
	// The compiler does not allocate so short a string.
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

// Numbers are made eight digits at a time, in one word: no loop over digits, no
// branch on how many there are. For the numbers of a profile that is three times as fast
// as package strconv.

// eight is the lowest number of more than eight digits.
const eight = 100_000_000

// zeros turns the digits of a word into text.
const zeros = 0x3030303030303030

// digits are the eight digits of n, which must be below eight, the first digit in the
// lowest byte.
func digits(n uint32) uint64 {
	high := n / 10_000
	return uint64(fours[min(high, 9999)]) | uint64(fours[n-high*10_000])<<32
}

// fours are the four digits of each number that has no more, 40 KB in all: tables of two or three digits
// take more steps, arithmetic in one word takes twice as long.
var fours = func() (t [10_000]uint32) {
	n := 0
	for a := range uint32(10) {
		for b := range uint32(10) {
			for c := range uint32(10) {
				for d := range uint32(10) {
					t[n] = a | b<<8 | c<<16 | d<<24
					n++
				}
			}
		}
	}
	return t
}()

// appendWord appends the first n bytes of w.
func appendWord(dst []byte, w uint64, n int) []byte {
	dst = slices.Grow(dst, 8)
	binary.LittleEndian.PutUint64(dst[len(dst):len(dst)+8], w)
	return dst[:len(dst)+n]
}

// AppendUint appends n.
func AppendUint(dst []byte, n uint64) []byte {
	if n >= eight {
		dst = AppendUint(dst, n/eight)
		return appendWord(dst, digits(uint32(n%eight))|zeros, 8)
	}
	d := digits(uint32(n))
	leading := bits.TrailingZeros64(d|1<<56) &^ 7 // bits of zeros; the last digit stays
	return appendWord(dst, (d|zeros)>>leading, 8-leading/8)
}

// AppendInt appends n.
func AppendInt(dst []byte, n int64) []byte {
	if n < 0 {
		return AppendUint(append(dst, '-'), -uint64(n))
	}
	return AppendUint(dst, uint64(n))
}

// AppendMillis appends ns nanoseconds in milliseconds: exactly, with at most
// six decimals and no trailing zeros. It is [AppendFixed], several times as fast.
func AppendMillis(dst []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		dst, u = append(dst, '-'), -u
	}
	dst = AppendUint(dst, u/1_000_000)
	rest := uint32(u % 1_000_000)
	if rest == 0 {
		return dst
	}
	d := digits(rest * 100)
	trailing := bits.LeadingZeros64(d) / 8 // zeros
	return appendWord(append(dst, '.'), d|zeros, 8-trailing)
}

// AppendFixed appends n·10^-decimals exactly, without trailing zeros; decimals
// is 0 to 18.
func AppendFixed(dst []byte, n int64, decimals int) []byte {
	u := uint64(n)
	if n < 0 {
		dst, u = append(dst, '-'), -u
	}
	whole, rest := u/powers[decimals], u%powers[decimals]
	dst = AppendUint(dst, whole)
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for i := decimals - 1; i >= 0; i-- {
		dst = append(dst, byte('0'+rest/powers[i]%10))
	}
	return trimZeros(dst)
}

// trimZeros cuts zeros from the end of a number that has other digits, too.
func trimZeros(dst []byte) []byte {
	n := len(dst)
	for dst[n-1] == '0' {
		n--
	}
	return dst[:n]
}

var powers = func() (t [19]uint64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = 10 * t[i-1]
	}
	return t
}()

// AppendFloat appends the shortest text that reads back as f, in the form that
// JavaScript writes. JSON has no infinities and no NaN: they become null.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	abs := math.Abs(f)
	if abs == 0 || 1e-6 <= abs && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' { // e-07 is e-7
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst
}
