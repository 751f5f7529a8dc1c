// Package progress keeps track of how much of some work is done, as a proportion of the
// whole: nested parts and loops each report their own share.
package progress

import (
	"iter"
	"sync/atomic"
)

// Gauge is how much of some work is done, and at which place it is. One goroutine works
// and sets it, through a [Logger]; any other may read it. The zero Gauge is at the
// beginning.
type Gauge struct {
	value atomic.Uint32
	place atomic.Pointer[string]
}

// Value is how much of the work is done. Of a nil Gauge it is Unknown.
func (g *Gauge) Value() Proportion {
	if g == nil {
		return Unknown
	}
	return Proportion(g.value.Load())
}

// Place is what is being done, "" if that was not set.
func (g *Gauge) Place() string {
	if g != nil {
		if place := g.place.Load(); place != nil {
			return *place
		}
	}
	return ""
}

// set sets the place before the value, so that a reader of the value finds the place. An
// empty place stays as it was.
func (g *Gauge) set(p Proportion, place string) {
	if place != "" {
		g.place.Store(&place)
	}
	g.value.Store(uint32(p))
}

// Logger sets one range of a [Gauge]: code that does a part of some work need not know
// which part of the whole it is. The zero Logger sets nothing.
type Logger struct {
	to          *Gauge
	from, width Proportion // of the gauge
	end         string     // the place at the end
}

// New returns a Logger of all of a Gauge, and sets it to the beginning. Done sets the
// place at the end. With a nil Gauge nothing is set.
func New(to *Gauge, begin, end string) *Logger {
	return newLogger(to, 0, Whole, begin, end)
}

func newLogger(to *Gauge, from, width Proportion, begin, end string) *Logger {
	l := &Logger{to: to, from: from, width: width, end: end}
	l.Set(0, begin)
	return l
}

// Set says how much of this logger's work is done, and where it is; an empty
// place is that before. A range without a width sets nothing: it would move the
// gauge for work that does not count.
func (l *Logger) Set(p Proportion, place string) {
	if l.to != nil && l.width != 0 {
		l.to.set(l.from.Plus(p.Of(l.width)), place)
	}
}

// Done sets the end. The logger sets nothing any more.
func (l *Logger) Done() {
	l.Set(Whole, l.end)
	l.to = nil
}

// Part returns a logger of a part of this one's work. If the part lies before
// what was set, the gauge goes back.
func (l *Logger) Part(from, to Proportion, begin, end string) *Logger {
	start := l.from.Plus(from.Of(l.width))
	return newLogger(l.to, start, l.from.Plus(to.Of(l.width)).Minus(start), begin, end)
}

// Loop gives a logger to each of n rounds of one part of this one's work; edge
// is the place between them. Each is done when its round ends.
func (l *Logger) Loop(from, to Proportion, n int, edge string) iter.Seq2[int, *Logger] {
	return func(yield func(int, *Logger) bool) {
		for i := range n {
			round := l.Part(step(from, to, i, n), step(from, to, i+1, n), edge, edge)
			next := yield(i, round)
			round.Done()
			if !next {
				return
			}
		}
	}
}

// step is where round i of n begins, and round i-1 ends. It is calculated from the
// beginning, so that rounding errors do not add up.
func step(from, to Proportion, i, n int) Proportion {
	return from.Plus(Ratio(int64(i), int64(n)).Of(to.Minus(from)))
}
