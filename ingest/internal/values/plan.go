// Package values turns the values of a profile's samples into rows: of samples, of allocations, and
// measurements. A value means what its type says, such as samples/count.
package values

import (
	"math"
	"math/bits"
	"strings"

	"gprof/stream"
)

// Plan says what becomes of the values of a sample.
type Plan struct {
	measures []measure // by value
	rest     []int     // values that are always measurements

	count, cpu int   // values of CPU samples; -1: none
	period     int64 // ns of CPU time of a sample, if they are not counted

	heap [4]int // values of allocations, as in heapValues; heap[0] is -1 if they are not all there
}

var heapValues = [4]stream.ValueType{
	{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"}, {Name: "inuse_objects", Unit: "count"}, {Name: "inuse_space", Unit: "bytes"},
}

// NewPlan returns the plan of samples with values of these types, which were taken once in a period; 0
// is unknown.
func NewPlan(types []stream.ValueType, periodType stream.ValueType, period int64) *Plan {
	p := &Plan{count: -1, cpu: -1, heap: [4]int{-1, -1, -1, -1}}
	for i, t := range types {
		m := measureOf(t)
		p.measures = append(p.measures, m)
		switch {
		case t == stream.ValueType{Name: "samples", Unit: "count"} && p.count < 0:
			p.count = i
		case t.Name == "cpu" && m.counter.Unit == stream.FormatNanoseconds && p.cpu < 0:
			p.cpu = i
		default:
			p.takeHeap(i, t)
		}
	}
	p.period = Nanoseconds(period, periodType.Unit)
	if p.count < 0 && p.period == 0 {
		p.cpu = -1 // nobody knows how many samples that were
	}
	for _, n := range p.heap {
		if n < 0 {
			p.heap[0] = -1
		}
	}
	for i := range p.measures {
		if !p.special(i) {
			p.rest = append(p.rest, i)
		}
	}
	return p
}

func (p *Plan) takeHeap(i int, t stream.ValueType) {
	for k, v := range heapValues {
		if v == t && p.heap[k] < 0 {
			p.heap[k] = i
		}
	}
}

// special reports whether a value is one of samples or allocations.
func (p *Plan) special(i int) bool {
	if i == p.count || i == p.cpu {
		return true
	}
	for _, n := range p.heap {
		if n == i && p.heap[0] >= 0 {
			return true
		}
	}
	return false
}

// sample returns the weight and CPU time of a sample, -1 if unknown. It is not ok if the values
// make no sample.
func (p *Plan) sample(values []int64) (weight, cpu int64, ok bool) {
	cpu = -1
	if p.cpu >= 0 {
		cpu = values[p.cpu]
		if cpu < 0 {
			return 0, 0, false
		}
	}
	if p.count >= 0 {
		return values[p.count], cpu, values[p.count] >= 0
	}
	if len(values) > p.Len() { // a sum
		return values[p.Len()], cpu, true
	}
	if cpu > 0 {
		weight = max(1, (cpu+p.period/2)/p.period)
	}
	return weight, cpu, true
}

// memory is objects of the heap.
type memory struct{ objects, bytes int64 }

// allocation returns what was allocated, and what of that was freed. It is not ok if the values
// can't mean that.
func (p *Plan) allocation(values []int64) (allocated, freed memory, ok bool) {
	allocated = memory{values[p.heap[0]], values[p.heap[1]]}
	inUse := memory{values[p.heap[2]], values[p.heap[3]]}
	if min(allocated.objects, allocated.bytes, inUse.objects, inUse.bytes) < 0 {
		return allocated, freed, false
	}
	freed = memory{allocated.objects - inUse.objects, allocated.bytes - inUse.bytes}
	// Bytes tell a row of what was freed from one of what was allocated.
	ok = freed.objects >= 0 && freed.bytes >= 0 && (freed.bytes > 0 || freed.objects == 0)
	return allocated, freed, ok
}

var (
	// The units that values are converted from, in ns and bytes.
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

// measure is what a value of samples is.
type measure struct {
	counter stream.Counter
	factor  int64 // by which values are multiplied
}

// measureOf returns the measure of a value type. An unknown unit stays in the description.
func measureOf(v stream.ValueType) measure {
	c := stream.Counter{Name: v.Name, Measure: true}
	if factor, ok := timeUnits[v.Unit]; ok {
		c.Unit = stream.FormatNanoseconds
		return measure{c, factor}
	}
	if factor, ok := sizeUnits[strings.ToLower(v.Unit)]; ok {
		c.Unit = stream.FormatBytes
		return measure{c, factor}
	}
	if v.Unit != "count" {
		c.Description = v.Unit
	}
	return measure{c, 1}
}

// Nanoseconds is a time in a unit, 0 if that is none of time, or the time not above 0.
func Nanoseconds(n int64, unit string) int64 {
	factor, ok := timeUnits[unit]
	if !ok || n <= 0 {
		return 0
	}
	n, _ = times(n, factor)
	return n
}

// Len is how many values a sample has.
func (p *Plan) Len() int { return len(p.measures) }

// Scale is value i of a sample in our units, saturated; then it is not exact.
func (p *Plan) Scale(i int, n int64) (scaled int64, exact bool) {
	return times(n, p.measures[i].factor)
}

// times is a product, saturated; then it is not exact.
func times(n, factor int64) (product int64, exact bool) {
	switch {
	case n > math.MaxInt64/factor:
		return math.MaxInt64, false
	case n < math.MinInt64/factor:
		return math.MinInt64, false
	}
	return n * factor, true
}

// Spread is the time of sample i of n that have none of their own: the middle of its equal share of a
// duration that begins at start.
func Spread(start stream.Time, duration int64, i, n uint64) stream.Time {
	n = max(1, n)
	return start + stream.Time(share(duration, 2*min(i, n-1)+1, 2*n))
}

// share is d*i/n without overflow, for i up to n, which is above 0.
func share(d int64, i, n uint64) int64 {
	hi, lo := bits.Mul64(uint64(d), i)
	q, _ := bits.Div64(hi, lo, n)
	return int64(q)
}

// maxAdded is the value from which on samples are not added up: sums of less don't overflow.
const maxAdded = 1 << 46

// Adds reports whether samples with such values may be added up before they become rows.
func (p *Plan) Adds(values []int64) bool {
	for _, v := range values {
		if uint64(v) >= maxAdded {
			return false
		}
	}
	if p.heap[0] < 0 {
		return true
	}
	_, _, ok := p.allocation(values)
	return ok
}

// Width is how many values a sum of samples has: those of a sample and, if no value counts samples, their
// Weight.
func (p *Plan) Width() int {
	if p.derives() {
		return p.Len() + 1
	}
	return p.Len()
}

// derives reports whether the CPU time tells the number of samples.
func (p *Plan) derives() bool { return p.count < 0 && p.cpu >= 0 }

// Weight is how many samples values stand for.
func (p *Plan) Weight(values []int64) int64 {
	weight, _, _ := p.sample(values)
	return weight
}

// HasRow reports whether a sample with these values becomes any row, also where zeros are not wanted.
func (p *Plan) HasRow(values []int64) bool { return p.count >= 0 || p.cpu >= 0 || !allZero(values) }
