package list

import (
	"cmp"
	"slices"

	"gprof/stream"
)

// Counter is the course of a counter, in the counter's unit.
type Counter struct {
	Name     string  `json:"name"`
	Process  string  `json:"process"`
	Unit     string  `json:"unit"`
	Total    bool    `json:"total"` // it counts up from the start of its process
	Readings int64   `json:"readings"`
	FirstAt  int64   `json:"first_at_ns"`
	First    int64   `json:"first"`
	Least    int64   `json:"least"`
	Most     int64   `json:"most"`
	Points   []Point `json:"points"` // in order of time, each of as many readings but the last
}

// Point is some readings, one after the other.
type Point struct {
	At    int64 `json:"at_ns"` // of the last, since the epoch
	Last  int64 `json:"last"`
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
}

// maxPoints bounds the points of a counter: there are half as many at least, if it was read so often.
const maxPoints = 20

// maxCounters bounds the counters of a report.
const maxCounters = 200

// course gathers the readings of a counter.
type course struct {
	Counter
	each  int64 // readings of a point
	inner int64 // readings of the last point
}

func (s *Sink) count(b *stream.Batch) {
	id := b.Series.Counter
	of := s.tables.Counters.At(id)
	s.note(of.Name)
	if s.query.Conditional() || !s.query.Name.Match(of.Name) {
		return
	}
	c := s.counters[id]
	if c == nil {
		if len(s.counters) >= maxCounters {
			return
		}
		c = &course{Counter: Counter{Name: of.Name, Process: s.tables.Process(b.Series.Process).Title(), Unit: of.Unit.Unit(), Total: of.Total, Points: []Point{}}, each: 1}
		s.counters[id] = c
	}
	for i, at := range b.Time {
		c.add(Point{int64(at), b.Value[i], b.Value[i], b.Value[i]})
	}
}

// add adds a reading. If there are too many points, two become one.
func (c *course) add(p Point) {
	if c.Readings == 0 {
		c.FirstAt, c.First, c.Least, c.Most = p.At, p.Last, p.Least, p.Most
	}
	c.Readings++
	c.Least, c.Most = min(c.Least, p.Least), max(c.Most, p.Most)
	if n := len(c.Points); n > 0 && c.inner < c.each {
		c.Points[n-1] = c.Points[n-1].with(p)
		c.inner++
		return
	}
	if len(c.Points) == maxPoints {
		for i := range maxPoints / 2 {
			c.Points[i] = c.Points[2*i].with(c.Points[2*i+1])
		}
		c.Points, c.each = c.Points[:maxPoints/2], 2*c.each
	}
	c.Points, c.inner = append(c.Points, p), 1
}

func (p Point) with(next Point) Point {
	return Point{next.At, next.Last, min(p.Least, next.Least), max(p.Most, next.Most)}
}

// endCounters puts the counters into the report.
func (s *Sink) endCounters() {
	for _, c := range s.counters {
		s.Report.Counters = append(s.Report.Counters, c.Counter)
	}
	slices.SortFunc(s.Report.Counters, func(a, b Counter) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Name, b.Name), cmp.Compare(a.FirstAt, b.FirstAt))
	})
}
