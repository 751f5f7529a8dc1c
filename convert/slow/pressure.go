package slow

import "gprof/stream"

// pressure is a counter of the time for which some work of the machine waited for a processor: its first and its
// last reading.
type pressure struct {
	from, to    stream.Time
	first, last int64
}

// counts takes readings of the counter.
func (s *Sink) counts(b *stream.Batch) {
	if c := s.tables.Counters.At(b.Series.Counter); c.Name != "CPU pressure" || !c.Total {
		return
	}
	for i, at := range b.Time {
		p := s.busy[b.Series.Process]
		if p == nil {
			p = &pressure{from: at, first: b.Value[i]}
			s.busy[b.Series.Process] = p
		}
		p.to, p.last = at, b.Value[i]
	}
}

// pressed is the share of the time for which work waited, 0 if that is not known.
func (s *Sink) pressed() float64 {
	var waited, of float64
	for _, p := range s.busy {
		waited, of = waited+float64(p.last)-float64(p.first), of+float64(p.to)-float64(p.from)
	}
	if of <= 0 {
		return 0
	}
	return min(max(waited/of, 0), 1)
}
