package jsonfile

import (
	"math"
	"strconv"
)

// maxDigits is how many decimal digits an int64 holds in any case.
const maxDigits = 18

// Fixed reads a number as a multiple of 1/10^digits, rounded half away from
// zero. It reports whether text is a number that fits.
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

// fixedFloat is Fixed of a number with an exponent, or with many digits.
func fixedFloat(text []byte, digits int) (int64, bool) {
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

// Int reads a number without a fraction.
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
