package durations

import (
	"maps"
	"slices"

	"gprof/stream"
)

// MaxNames bounds the names that markers have of their own. Further ones are summed up under
// the name of their event.
const MaxNames = 10_000

// Names sums up the markers of one series after the other, by their names.
type Names struct {
	spans Spans             // of markers called by the event's name
	own   map[string]*named // of the series
	known map[string]bool   // own names, of all series
}

// named is the markers of one name. There may be many names, each of few markers.
type named struct {
	open []stream.Time
	out  Markers
}

// Add takes a segment of an event's markers.
func (s *Names) Add(b *stream.Batch, e *stream.Event) {
	arg := e.NameArg()
	fields := e.SpanFields()
	traced := fields.Any() || len(b.Span) > 0
	if arg < 0 {
		s.spans.Add(b)
		for i := 0; traced && i < b.Len(); i++ {
			s.spans.out.Slowest.Look(b, i, fields)
		}
		return
	}
	for i := range b.Len() {
		name := e.Name
		if b.Args[arg].TypeAt(i) == stream.Text {
			name = string(b.Args[arg].TextAt(i))
		}
		n := s.named(name, e)
		if n.add(b, i); traced {
			n.out.Slowest.Look(b, i, fields)
		}
	}
}

// named finds or adds a name.
func (s *Names) named(name string, e *stream.Event) *named {
	if !s.known[name] && len(s.known) >= MaxNames {
		name = e.Name
	}
	n := s.own[name]
	if n == nil {
		if s.own == nil {
			s.own = map[string]*named{}
		}
		if s.known == nil {
			s.known = map[string]bool{}
		}
		n = new(named)
		s.own[name], s.known[name] = n, true
	}
	return n
}

// Take calls each with the sum of each name of the series of an event, and begins another
// series.
func (s *Names) Take(e *stream.Event, each func(name string, m Markers)) {
	if e.NameArg() < 0 {
		each(e.Name, s.spans.Take())
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.own)) {
		n := s.own[name]
		n.out.Count += int64(len(n.open))
		n.out.Unpaired += int64(len(n.open))
		each(name, n.out)
	}
	clear(s.own)
}

// add takes row i of b.
func (n *named) add(b *stream.Batch, i int) {
	last := len(n.open) - 1
	switch phase := b.Phase[i]; {
	case phase == stream.Interval:
		n.took(b.Duration[i])
	case phase == stream.PhaseStart && last+1 < maxOpen:
		n.open = append(n.open, b.Time[i])
	case phase == stream.PhaseEnd && last >= 0:
		n.took(int64(b.Time[i] - n.open[last]))
		n.open = n.open[:last]
	case phase != stream.Instant:
		n.out.Unpaired++
		n.out.Count++
	default:
		n.out.Count++
	}
}

func (n *named) took(ns int64) {
	ns = max(0, ns)
	n.out.Count++
	n.out.Took.Add(Sum{Count: 1, All: ns, Min: ns, Max: ns, Buckets: []Bucket{{int32(bucketOf(ns)), 1}}})
}
