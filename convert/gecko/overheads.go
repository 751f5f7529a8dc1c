package gecko

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// overheads is what the recorder itself cost, in microseconds: times, too.
type overheads struct {
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

func (o *overheads) begin(s *Sink) {
	s.out.Key("profilerOverhead")
	s.out.BeginObject()
	s.beginTable("samples", `{"time":0,"locking":1,"expiredMarkerCleaning":2,"counters":3,"threads":4}`)
}

func (o *overheads) rows(s *Sink, b *stream.Batch) {
	for i, at := range b.Time {
		row := jsontext.AppendFixed(append(s.row[:0], '['), s.ms(at), 3)
		var total int64
		for k := range o.columns {
			ns := integer(&b.Args[k], i)
			total += ns
			o.columns[k].add(ns)
			row = jsontext.AppendFixed(append(row, ','), ns, 3)
		}
		s.endRow(row)
		o.total.add(total)
		if o.count > 0 {
			o.interval.add(int64(at - o.last))
		} else {
			o.first = at
		}
		o.last = at
		o.count++
	}
}

// end writes the statistics, for which there must be two rows.
func (o *overheads) end(s *Sink) {
	s.endTable()
	if o.count > 1 {
		o.writeStatistics(s)
	}
	s.out.EndObject()
}

func (o *overheads) writeStatistics(s *Sink) {
	duration := int64(o.last - o.first)
	s.out.Key("statistics")
	s.out.BeginObject()
	s.micros("profiledDuration", duration)
	s.number("samplingCount", o.count)
	s.micros("overheadDurations", o.total.sum)
	s.out.Key("overheadPercentage") // a ratio, in spite of its name
	s.out.RawBytes(jsontext.AppendFloat(nil, float64(o.total.sum)/float64(max(1, duration))))
	for i, name := range []string{"Interval", "Overhead", "Lockings", "Cleaning", "Counter", "Thread"} {
		x := []*spread{&o.interval, &o.total, &o.columns[0], &o.columns[1], &o.columns[2], &o.columns[3]}[i]
		s.micros("mean"+name, x.sum/x.n)
		s.micros("min"+name, x.min)
		s.micros("max"+name, x.max)
	}
	s.out.EndObject()
}

// micros writes a member that is a duration.
func (s *Sink) micros(key string, ns int64) {
	s.out.Key(key)
	s.out.Fixed(ns, 3)
}

// integer is row i of a column of integers, 0 if it is none.
func integer(c *stream.Column, i int) int64 {
	if typ := c.TypeAt(i); typ == stream.Int || typ == stream.Uint {
		return int64(c.BitsAt(i))
	}
	return 0
}

// text is row i of a column of texts, "" if it is none.
func text(c *stream.Column, i int) string {
	if c.TypeAt(i) == stream.Text {
		return string(c.TextAt(i))
	}
	return ""
}
