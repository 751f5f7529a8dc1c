package flame

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gprof/convert/internal/calls"
	"gprof/stream"
)

// Width is what boxes are as wide as: the number of samples if it is none of the kinds that there are.
type Width struct {
	Of   calls.Basis
	Unit string // "bytes", "ns", another that a profile names, or "" of a number
}

// WidthOf is the width by what a meter gives, once it has begun.
func WidthOf(m *calls.Meter) Width {
	switch m.Of {
	case calls.CPU, calls.Waits:
		return Width{m.Of, stream.FormatNanoseconds.Unit()}
	case calls.Heap, calls.Allocations:
		return Width{m.Of, stream.FormatBytes.Unit()}
	}
	return Width{m.Of, m.Unit}
}

// Value is what counts of an amount.
func (w Width) Value(a calls.Amount) int64 {
	if w.Of == "" || w.Of == calls.Samples {
		return a.Samples
	}
	return a.CPU
}

// Amount writes a value.
func (w Width) Amount(v int64) string {
	switch {
	case w.Of == "" || w.Of == calls.Samples:
		return Count(v, "sample", "samples")
	case w.Unit == stream.FormatBytes.Unit():
		return fmt.Sprintf("%.1f MiB", float64(v)/(1<<20))
	case w.Unit == stream.FormatNanoseconds.Unit():
		return time.Duration(v).Round(max(1, time.Duration(math.Pow10(len(fmt.Sprint(v))-3)))).String()
	}
	return strings.TrimSpace(Count(v, w.Unit, w.Unit))
}

// Describe says what an amount is.
func (w Width) Describe(v int64) string {
	text := w.Amount(v)
	switch w.Of {
	case "":
		return text
	case calls.CPU:
		return text + " of CPU time"
	case calls.Samples:
		return text + " without CPU time"
	case calls.Heap:
		return text + " in use"
	case calls.Allocations:
		return text + " allocated"
	case calls.Waits:
		return text + " of waiting"
	}
	return text + " of " + string(w.Of)
}

// String names it.
func (w Width) String() string {
	switch w.Of {
	case "", calls.Samples:
		return "samples"
	case calls.CPU:
		return "CPU time"
	case calls.Heap:
		return "memory in use at the end"
	case calls.Allocations:
		return "allocated memory"
	case calls.Waits:
		return "time of waiting"
	}
	return string(w.Of)
}
