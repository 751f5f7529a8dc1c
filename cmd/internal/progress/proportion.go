package progress

import "math"

// Proportion is a part of a whole, in fixed point: 0 is nothing, [Whole] is all of it.
// Any larger value is unknown, and so is what is calculated with it, which is always
// [Unknown].
type Proportion uint32

const (
	Whole   Proportion = 1 << 31
	Unknown Proportion = math.MaxUint32
)

// Percent is n hundredths, at least none and at most all.
func Percent(n int) Proportion { return Ratio(int64(n), 100) }

// Ratio is part of whole, at least none and at most all. It is Unknown if whole is 0.
func Ratio(part, whole int64) Proportion {
	if whole <= 0 {
		return Unknown
	}
	part = min(max(part, 0), whole)
	for whole >= 1<<32 { // so that the product below fits
		part, whole = part>>1, whole>>1
	}
	return Proportion(uint64(part) * uint64(Whole) / uint64(whole))
}

// Known reports whether p is known.
func (p Proportion) Known() bool { return p <= Whole }

// Float is p as a number from 0 to 1, or NaN.
func (p Proportion) Float() float64 {
	if !p.Known() {
		return math.NaN()
	}
	return float64(p) / float64(Whole)
}

// Plus is p+q, at most Whole.
func (p Proportion) Plus(q Proportion) Proportion {
	if !p.Known() || !q.Known() {
		return Unknown
	}
	return p + min(q, Whole-p) // 2·2^31 does not fit
}

// Minus is p-q, at least 0.
func (p Proportion) Minus(q Proportion) Proportion {
	if !p.Known() || !q.Known() {
		return Unknown
	}
	return p - min(p, q)
}

// Of is the part p of q, rounded down.
func (p Proportion) Of(q Proportion) Proportion {
	if !p.Known() || !q.Known() {
		return Unknown
	}
	return Proportion(uint64(p) * uint64(q) / uint64(Whole))
}
