package compare

import (
	"cmp"
	"slices"
	"time"

	"gprof/stream"
)

// Counter is a counter of one name.
type Counter struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"`  // "bytes", "nanoseconds", or ""
	Total bool   `json:"total"` // it counts up
	Value Change `json:"value"` // its growth in a second of one process, else its mean over time
}

// counterName tells counters apart.
type counterName struct {
	name  string
	unit  stream.Format
	total bool
}

func (c counterName) compare(o counterName) int {
	return cmp.Or(cmp.Compare(c.name, o.name), cmp.Compare(c.unit, o.unit), cmp.Compare(number(c.total), number(o.total)))
}

// counterSum is one counter of a process.
type counterSum struct {
	counterName
	value float64 // its growth, or its level times how long it had it
	time  float64 // ns that levels are known for
}

// reading is a counter that is being read.
type reading struct {
	series stream.Series
	sum    counterSum
	time   stream.Time // of the last row
	last   int64
	begin  stream.Time // of the first row
	first  int64
	any    bool // there are rows
}

// count takes a segment of a counter.
func (s *Sink) count(b *stream.Batch) {
	r := &s.reading
	if b.Series != r.series {
		s.endCounter()
		c := s.tables.Counters.At(b.Series.Counter)
		*r = reading{series: b.Series, sum: counterSum{counterName: counterName{c.Name, c.Unit, c.Total}}}
	}
	for i, v := range b.Value {
		switch step := float64(b.Time[i] - r.time); {
		case !r.any:
			r.begin, r.first = b.Time[i], v
		case r.sum.total:
			r.sum.value += max(0, float64(v)-float64(r.last)) // below 0 it has begun anew
		default:
			r.sum.value, r.sum.time = r.sum.value+step*float64(r.last), r.sum.time+step
		}
		r.time, r.last, r.any = b.Time[i], v, true
	}
}

// endCounter ends the counter that is being read.
func (s *Sink) endCounter() {
	r := &s.reading
	if r.any && r.sum.time == 0 && !r.sum.total {
		r.sum.value, r.sum.time = float64(r.last), 1 // of a single row
	}
	if r.any {
		s.now.counters = append(s.now.counters, r.sum)
	}
	if r.sum.name == stream.CounterProcessCPU && r.sum.total {
		s.now.cpu = r.spent(s.tables.Process(s.id).Start, s.from)
	}
	*r = reading{}
}

// fromStart is how soon after its start a recorder has read its counters.
const fromStart = stream.Time(time.Second)

// spent is the CPU time that was counted, in seconds: all of it if the first reading is of the start, and what is compared
// begins no later than that.
func (r *reading) spent(start, from stream.Time) float64 {
	since := r.first
	if r.begin-start < fromStart && from <= start {
		since = 0
	}
	return max(0, float64(r.last-since)) / 1e9
}

// counters compares the counters of both sets, and marks what is found.
func (r *Report) counters() {
	cells := [2]map[counterName][2][]cell{r.base.counters(), r.new.counters()}
	var names []counterName
	for _, side := range cells {
		for name := range side {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, counterName.compare)
	var tested []*Change
	for _, name := range slices.Compact(names) {
		c := &Counter{Name: name.name, Total: name.total, Unit: map[stream.Format]string{stream.FormatBytes: "bytes", stream.FormatNanoseconds: "nanoseconds"}[name.unit]}
		c.Value = newChange(r.base.counter(name, cells[0][name]), r.new.counter(name, cells[1][name]), r.processes())
		noteOnly(len(cells[0][name][0]) > 0, len(cells[1][name][0]) > 0, &c.Value)
		if c.Value.Base.Value != 0 || c.Value.New.Value != 0 {
			r.Counters = append(r.Counters, c)
			tested = append(tested, &c.Value)
		}
	}
	find(tested)
	slices.SortStableFunc(r.Counters, func(a, b *Counter) int { return cmp.Compare(number(b.Value.Found), number(a.Value.Found)) })
}

// counters are the values and the times of each counter by process.
func (s *sample) counters() map[counterName][2][]cell {
	all := map[counterName][2][]cell{}
	for i := range s.set.processes {
		for _, c := range s.set.processes[i].counters {
			cells := all[c.counterName]
			cells[0] = append(cells[0], cell{process: i, value: c.value})
			cells[1] = append(cells[1], cell{process: i, value: c.time})
			all[c.counterName] = cells
		}
	}
	return all
}

// counter estimates a counter's figure.
func (s *sample) counter(name counterName, cells [2][]cell) Estimate {
	of := s.seconds.sum
	if !name.total {
		of = s.sum(cells[1])
	}
	return s.ratio(cells[0], s.sum(cells[0]), of, 0)
}
