package pprof

import (
	"math"
	"math/bits"
	"strings"

	"gprof/stream"
)

// The units that values are brought to, and how many of those one is.
var (
	timeUnits = map[string]int64{
		"nanoseconds": 1, "nanosecond": 1, "ns": 1,
		"microseconds": 1e3, "microsecond": 1e3, "us": 1e3, "µs": 1e3,
		"milliseconds": 1e6, "millisecond": 1e6, "ms": 1e6,
		"seconds": 1e9, "second": 1e9, "s": 1e9, "sec": 1e9,
		"minutes": 60e9, "minute": 60e9, "min": 60e9,
		"hours": 3600e9, "hour": 3600e9, "h": 3600e9, "hrs": 3600e9,
	}
	sizeUnits = map[string]int64{
		"bytes": 1, "byte": 1, "b": 1,
		"kilobytes": 1 << 10, "kilobyte": 1 << 10, "kb": 1 << 10, "kib": 1 << 10,
		"megabytes": 1 << 20, "megabyte": 1 << 20, "mb": 1 << 20, "mib": 1 << 20,
		"gigabytes": 1 << 30, "gigabyte": 1 << 30, "gb": 1 << 30, "gib": 1 << 30,
	}
)

// measure is what one of the values of samples is.
type measure struct {
	counter stream.Counter
	factor  int64 // by which values are multiplied
}

// measureOf returns what values of a type are; each is a level, or a sum, of its
// own. A unit that is none of ours stays in the description.
func measureOf(v valueName) measure {
	c := stream.Counter{Name: v.name, Measure: true}
	if factor, ok := timeUnits[v.unit]; ok {
		c.Unit = stream.FormatNanoseconds
		return measure{c, factor}
	}
	if factor, ok := sizeUnits[strings.ToLower(v.unit)]; ok {
		c.Unit = stream.FormatBytes
		return measure{c, factor}
	}
	if v.unit != "count" {
		c.Description = v.unit
	}
	return measure{c, 1}
}

// times is a product, or the largest or smallest number if it is beyond them; then
// it is not exact.
func times(n, factor int64) (product int64, exact bool) {
	switch {
	case n > math.MaxInt64/factor:
		return math.MaxInt64, false
	case n < math.MinInt64/factor:
		return math.MinInt64, false
	}
	return n * factor, true
}

// share is i parts of n of d, without overflow; i is at most n, which is above 0.
func share(d int64, i, n uint64) int64 {
	hi, lo := bits.Mul64(uint64(d), i)
	q, _ := bits.Div64(hi, lo, n)
	return int64(q)
}
