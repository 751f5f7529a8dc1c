package slow

import (
	"cmp"
	"slices"

	"gprof/stream"
	"gprof/stream/filter"
)

// interval is a marker that lasts, or a start and its end.
type interval struct {
	name      string
	process   stream.ProcessID
	bound     filter.Bound
	from, to  stream.Time
	goroutine int64 // on which it began; 0 unknown
	track     stream.TrackID
	bits      uint64 // conditions that it fulfils
	span      stream.Span
	traits    []int32
	open      bool // its end is missing
}

// pairs makes intervals of the markers of one series after the other. Starts and ends of the same goroutine are
// paired first, the last start first; then those that are left.
type pairs struct {
	named  bool              // a marker is called as in the query
	others func(name []byte) // told of names of their own that other markers have; nil: nobody is
	tables *stream.Tables
	each   func(*interval) error
	traits func(b *stream.Batch, i int) []int32 // nil: none are wanted

	series stream.Series
	bound  filter.Bound
	spans  stream.SpanFields
	open   map[int64][]*interval // by goroutine
	stray  []*interval           // ends without a start on their goroutine
	held   int
	alone  int64 // ends without a start, and what was too much
}

// maxHeld bounds the starts and ends that wait: deeper than programs nest.
const maxHeld = 1 << 16

// take takes a segment of the event that bound is of.
func (p *pairs) take(b *stream.Batch, bound filter.Bound) error {
	if b.Series != p.series {
		if err := p.finish(); err != nil {
			return err
		}
		p.series, p.bound, p.open = b.Series, bound, map[int64][]*interval{}
		p.spans = p.tables.Event(b.Series.Event).SpanFields()
	}
	for i := range b.Len() {
		if err := p.row(b, i); err != nil {
			return err
		}
	}
	return nil
}

func (p *pairs) row(b *stream.Batch, i int) error {
	name, ok := p.bound.Name(b, i)
	p.named = p.named || ok
	if !ok && !p.named && p.others != nil {
		p.others(p.bound.Own(b, i))
	}
	if !ok || b.Phase[i] == stream.Instant {
		return nil
	}
	x := &interval{name: name, process: b.Series.Process, bound: p.bound, from: b.Time[i], to: b.Time[i], goroutine: b.Owner(i).Goroutine, track: b.Series.Track, bits: p.bound.Conditions(b, i)}
	if x.span, ok = p.spans.At(b, i); !ok {
		x.span = p.tables.SpanOf(b.Owner(i))
	}
	if p.traits != nil && b.Phase[i] != stream.PhaseEnd {
		x.traits = p.traits(b, i)
	}
	switch b.Phase[i] {
	case stream.Interval:
		x.to = max(x.from, x.from+stream.Time(b.Duration[i]))
		return p.each(x)
	case stream.PhaseEnd:
		return p.end(x)
	}
	if p.held == maxHeld {
		p.alone++
		return nil
	}
	p.held++
	p.open[x.goroutine] = append(p.open[x.goroutine], x)
	return nil
}

// end pairs an end with the last start of its name on its goroutine.
func (p *pairs) end(x *interval) error {
	if start := p.last(x.goroutine, x); start != nil {
		return p.pair(start, x)
	}
	if p.held == maxHeld {
		p.alone++
		return nil
	}
	p.held++
	p.stray = append(p.stray, x)
	return nil
}

// last takes the last start of a goroutine that an end may be of.
func (p *pairs) last(goroutine int64, end *interval) *interval {
	open := p.open[goroutine]
	for i, start := range slices.Backward(open) {
		if start.name == end.name && start.from <= end.to {
			if p.open[goroutine] = slices.Delete(open, i, i+1); len(open) == 1 {
				delete(p.open, goroutine)
			}
			p.held--
			return start
		}
	}
	return nil
}

func (p *pairs) pair(start, end *interval) error {
	start.to, start.bits = end.to, start.bits|end.bits
	if start.span == (stream.Span{}) {
		start.span = end.span
	}
	return p.each(start)
}

// finish ends a series: what is left is paired across goroutines, and what is left then goes on to the end of
// the process.
func (p *pairs) finish() error {
	var left []*interval
	for _, open := range p.open {
		left = append(left, open...)
	}
	slices.SortFunc(left, func(a, b *interval) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.goroutine, b.goroutine))
	})
	p.open = map[int64][]*interval{0: left}
	for _, end := range p.stray {
		if start := p.last(0, end); start == nil {
			p.alone++
		} else if err := p.pair(start, end); err != nil {
			return err
		}
	}
	for _, x := range p.open[0] {
		x.open, x.to = true, max(x.from, p.tables.Process(p.series.Process).End)
		if err := p.each(x); err != nil {
			return err
		}
	}
	p.open, p.stray, p.held = nil, nil, 0
	return nil
}
