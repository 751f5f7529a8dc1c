package viewer

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// overheadNames are what the statistics are of.
var overheadNames = [...]string{"Interval", "Overhead", "Lockings", "Cleaning", "Counter", "Thread"}

// Overheads sums up what the recorder itself cost.
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

// Add takes row i of b and returns its cost in ns: of locks, of cleaning, of
// counters, of threads.
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

// WriteStatistics writes the member statistics, in microseconds, if there are
// the two rows that it needs.
func (o *Overheads) WriteStatistics(out *jsontext.Writer) {
	if o.count < 2 {
		return
	}
	duration := int64(o.last - o.first)
	out.Key("statistics")
	out.BeginObject()
	micros(out, "profiledDuration", duration)
	number(out, "samplingCount", o.count)
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
	out.Key(key)
	out.Fixed(ns, 3)
}
