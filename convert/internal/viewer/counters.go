package viewer

import (
	"math"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// Change is a row of a counter as the viewer wants it: a difference to the row before.
type Change struct {
	At            stream.Time
	Count, Number int64 // of the value; operations
}

// Changes makes the rows of a counter by Gecko's rule: rows equal to the last one written are
// dropped, except the first, the first after a change, which ends it, and the last. The last row
// dropped before a change is written, because the viewer draws lines from row to row.
type Changes struct {
	rows    int      // seen
	before  [2]level // the last two, the latest first
	written level
	at      stream.Time // of the last row, if it was dropped
	left    bool        // the last row was dropped

	Repeated int64 // rows left out
}

// level is a counter's value.
type level struct{ value, number int64 }

// Rows takes rows of the counter, and calls write for each change.
func (c *Changes) Rows(b *stream.Batch, write func(Change)) {
	for i, at := range b.Time {
		now := level{b.Value[i], b.Number[i]}
		changed := c.rows == 0 || now != c.written
		settled := c.rows >= 2 && c.before[1] != c.written
		c.rows, c.before = c.rows+1, [2]level{now, c.before[0]}
		if !changed && !settled {
			if c.left {
				c.Repeated++
			}
			c.at, c.left = at, true
			continue
		}
		c.End(write)
		c.change(at, now, write)
	}
}

// change calls write for a change to now: once, unless the difference has no place in an int64, of which the lowest stands for
// no value.
func (c *Changes) change(at stream.Time, now level, write func(Change)) {
	for more := true; more; more = c.written != now {
		next := level{towards(c.written.value, now.value), towards(c.written.number, now.number)}
		write(Change{at, next.value - c.written.value, next.number - c.written.number})
		c.written = next
	}
}

// towards is to or, if that is more than math.MaxInt64 away, what is so far away.
func towards(from, to int64) int64 {
	switch d := to - from; {
	case to > from && d < 0:
		return from + math.MaxInt64
	case to < from && (d > 0 || d == math.MinInt64):
		return from - math.MaxInt64
	}
	return to
}

// End calls write for the last row if it was dropped.
func (c *Changes) End(write func(Change)) {
	if c.left {
		c.left = false
		write(Change{At: c.at})
	}
}

// WriteCounterAbout writes what the formats have no place for in a counter: they draw it by a
// category that may not be its own.
func WriteCounterAbout(out *jsontext.Writer, c *stream.Counter) {
	out.Object("gprof")
	if c.Category != "" {
		out.Member("category", c.Category)
	}
	if c.Unit != stream.FormatInteger && c.Unit < stream.NumFormats {
		out.Member("unit", unitName(c.Unit))
	}
	for _, m := range []struct {
		key   string
		value bool
	}{{"total", c.Total}, {"own", c.Own}} {
		if m.value {
			out.Flag(m.key, true)
		}
	}
	out.EndObject()
}

// unitName is the name of a counter's unit: the viewer's format, except for one that it lacks.
func unitName(unit stream.Format) string {
	if unit == stream.FormatPicowatt {
		return "pWh"
	}
	return formats[unit].name
}

// overheadNames are the subjects of the statistics.
var overheadNames = [...]string{"Interval", "Overhead", "Lockings", "Cleaning", "Counter", "Thread"}

// Overheads sums up the recorder's own cost.
type Overheads struct {
	count       int64
	first, last stream.Time
	interval    spread
	total       spread    // of the columns
	columns     [4]spread // lock, clean, counters, threads
}

// spread sums up values in ns.
type spread struct{ n, sum, min, max int64 }

func (x *spread) add(ns int64) {
	if x.n == 0 || ns < x.min {
		x.min = ns
	}
	x.max = max(x.max, ns)
	x.sum += ns
	x.n++
}

// Add takes row i of b and returns its cost in ns: of locks, cleaning, counters, threads.
func (o *Overheads) Add(b *stream.Batch, i int) (ns [4]int64) {
	var total int64
	for k := range o.columns {
		ns[k] = integer(&b.Args[k], i)
		total += ns[k]
		o.columns[k].add(ns[k])
	}
	o.total.add(total)
	at := b.Time[i]
	if o.count > 0 {
		o.interval.add(int64(at - o.last))
	} else {
		o.first = at
	}
	o.last = at
	o.count++
	return ns
}

// WriteStatistics writes the member statistics, in microseconds, if there are the two rows that it
// needs.
func (o *Overheads) WriteStatistics(out *jsontext.Writer) {
	if o.count < 2 {
		return
	}
	duration := int64(o.last - o.first)
	out.Object("statistics")
	micros(out, "profiledDuration", duration)
	out.Number("samplingCount", o.count)
	micros(out, "overheadDurations", o.total.sum)
	out.Key("overheadPercentage") // a ratio, in spite of its name
	out.RawBytes(jsontext.AppendFloat(nil, float64(o.total.sum)/float64(max(1, duration))))
	for i, x := range []*spread{&o.interval, &o.total, &o.columns[0], &o.columns[1], &o.columns[2], &o.columns[3]} {
		micros(out, "mean"+overheadNames[i], x.sum/x.n)
		micros(out, "min"+overheadNames[i], x.min)
		micros(out, "max"+overheadNames[i], x.max)
	}
	out.EndObject()
}

// micros writes a member that is a duration.
func micros(out *jsontext.Writer, key string, ns int64) {
	out.Decimal(key, ns, 3)
}
