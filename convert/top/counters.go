package top

import (
	"cmp"
	"math"
	"slices"

	"gprof/stream"
)

// CounterRow is what a counter of a process came to, in its unit. Of a counter that counts up, Mean is its
// growth in a second, and Least and Most are those of its growth in seconds; of a level, Mean is over time.
type CounterRow struct {
	Name     string  `json:"name"`
	Process  string  `json:"process"`
	Instance string  `json:"instance"` // of the process
	Unit     string  `json:"unit"`     // "bytes", "ns", or ""
	Total    bool    `json:"total"`    // it counts up
	Readings int64   `json:"readings"`
	LastAt   int64   `json:"last_at_ns"` // since the epoch
	Last     int64   `json:"last"`
	Least    float64 `json:"least"`
	Mean     float64 `json:"mean"`
	Most     float64 `json:"most"`
	Own      bool    `json:"own"` // it is the recorder's, not the program's
}

// reading is a counter that is being read.
type reading struct {
	series stream.Series
	row    CounterRow
	sum    float64 // its growth, or its level times how long it had it
	time   float64 // ns that sum is of
	begun  stream.Time
	from   int64 // of a total: its value at begun
}

// second is the least time by which growth is divided.
const second = 1e9

// count takes a segment of a counter.
func (s *Sink) count(b *stream.Batch) {
	r := &s.reading
	if b.Series != r.series {
		s.endCounter()
		c := s.tables.Counters.At(b.Series.Counter)
		*r = reading{series: b.Series, row: CounterRow{Name: c.Name, Process: processName(s.tables, b.Series), Instance: s.tables.Process(b.Series.Process).InstanceName(),
			Unit: c.Unit.Unit(), Total: c.Total, Own: c.Own, Least: math.Inf(1), Most: math.Inf(-1)}}
	}
	for i, v := range b.Value {
		r.add(b.Time[i], v)
	}
}

func (r *reading) add(at stream.Time, v int64) {
	row := &r.row
	step := float64(at - stream.Time(row.LastAt))
	switch {
	case row.Readings == 0:
		r.begun, r.from = at, v
	case row.Total:
		r.sum += max(0, float64(v)-float64(row.Last)) // below 0 it has begun anew
		r.time += step
		if took := float64(at - r.begun); took >= second {
			r.within(max(0, float64(v)-float64(r.from)) / took * second)
			r.begun, r.from = at, v
		}
	default:
		r.sum += step * float64(row.Last)
		r.time += step
	}
	if !row.Total {
		r.within(float64(v))
	}
	row.Readings++
	row.LastAt, row.Last = int64(at), v
}

func (r *reading) within(v float64) {
	r.row.Least, r.row.Most = min(r.row.Least, v), max(r.row.Most, v)
}

// endCounter ends the counter that is being read.
func (s *Sink) endCounter() {
	r := &s.reading
	row := r.row
	if row.Readings == 0 {
		return
	}
	switch {
	case r.time > 0 && row.Total:
		row.Mean = r.sum / r.time * second
	case r.time > 0:
		row.Mean = r.sum / r.time
	case !row.Total:
		row.Mean = float64(row.Last)
	}
	if row.Least > row.Most { // no second has passed
		row.Least, row.Most = row.Mean, row.Mean
	}
	s.Table.Counters = append(s.Table.Counters, row)
	*r = reading{}
}

// sortCounters has the program's own counters first.
func (s *Sink) sortCounters() {
	slices.SortStableFunc(s.Table.Counters, func(a, b CounterRow) int {
		return cmp.Or(compareBools(a.Own, b.Own), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Process, b.Process))
	})
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
