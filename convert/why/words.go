package why

import (
	"fmt"
	"math"
	"strings"
)

// byteCount is a number of bytes for people.
func byteCount(n float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if math.Abs(n) >= u.size {
			return digits(n/u.size) + " " + u.name
		}
	}
	return digits(n) + " B"
}

// took is a number of seconds for people.
func took(seconds float64) string {
	switch s := math.Abs(seconds); {
	case s >= 600:
		return digits(seconds/60) + " min"
	case s >= 1 || s == 0:
		return digits(seconds) + " s"
	case s >= 1e-3:
		return digits(seconds*1e3) + " ms"
	default:
		return digits(seconds*1e6) + " µs"
	}
}

// digits writes a number with two or three digits.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 10 || a == math.Trunc(a):
		return fmt.Sprintf("%.0f", v)
	case a >= 1:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// percent is a share.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// times is how much larger one value is than another: "× 12", "from nothing".
func times(before, after float64) string {
	if before <= 0 {
		return "from nothing"
	}
	return "× " + digits(after/before)
}

// short is a function without the path of its package.
func short(function string) string {
	head, rest, generic := strings.Cut(function, "[")
	head = head[strings.LastIndexByte(head, '/')+1:]
	if generic {
		return head + "[" + rest
	}
	return head
}
