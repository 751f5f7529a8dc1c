package decode

import (
	"slices"

	"gprof/stream"
)

// manyTracks is of how many tracks samples are gathered. Each has only some rows at a time, and filling as many batches
// waits for the memory of every column of each. So all rows are in one list, and become the batch of a track when its turn
// comes.
const manyTracks = 128

// gathered is samples of many tracks.
type gathered struct {
	rows   []stream.SampleRow
	of     []int32         // the number of the series of each
	order  []int32         // of the rows, by track
	series []stream.Series // by number; some may have no rows
	lanes  []*lane         // that they are of
	ends   []int32         // of the series in order, by sort
	with   int             // series that have rows, by sort
	wanted []int32         // the numbers of those that are to be the first ones from the next time on, in this order
	next   int             // series that is to be given
	most   int             // rows that will be gathered
}

// reset empties g, keeping its memory. So many rows will be gathered. Series keep their numbers as long as half of them have
// rows and nobody wants another order: each time it takes a look at what is known of a track to give it one. Renumbered says
// that they have other numbers now.
func (g *gathered) reset(most int) (renumbered bool) {
	if 2*g.with < len(g.series) {
		g.forget()
	}
	renumbered = len(g.series) == 0 || len(g.wanted) > 0
	g.arrange()
	*g = gathered{most: most, rows: g.rows[:0], of: g.of[:0], order: g.order[:0], series: g.series, lanes: g.lanes, ends: g.ends[:0], wanted: g.wanted}
	return renumbered
}

// forget forgets which series there are, and their numbers.
func (g *gathered) forget() {
	clear(g.lanes)
	g.series, g.lanes, g.wanted = g.series[:0], g.lanes[:0], g.wanted[:0]
}

// arrange puts series into the order that is wanted.
func (g *gathered) arrange() {
	if len(g.wanted) == 0 {
		return
	}
	first := make([]bool, len(g.series))
	for _, n := range g.wanted {
		first[n] = true
	}
	for n := range first {
		if !first[n] {
			g.wanted = append(g.wanted, int32(n))
		}
	}
	series, lanes := make([]stream.Series, 0, len(g.series)), make([]*lane, 0, len(g.series))
	for _, n := range g.wanted {
		series, lanes = append(series, g.series[n]), append(lanes, g.lanes[n])
	}
	g.series, g.lanes, g.wanted = series, lanes, g.wanted[:0]
}

// renumber gives lanes the numbers that their series have now. One may be that of another track by now.
func (g *gathered) renumber(numbering uint32) {
	for n, l := range g.lanes {
		if l.series() == g.series[n] {
			l.numbered = numbered{int32(n), numbering}
		}
	}
}

// number is that of the series of a lane, a new one if it has none in this numbering.
func (g *gathered) number(l *lane, numbering uint32) int32 {
	if l.numbering != numbering {
		l.numbered = numbered{int32(len(g.series)), numbering}
		g.series, g.lanes = append(g.series, l.series()), append(g.lanes, l)
	}
	return l.number
}

// add adds a row, which is filled in place.
func (g *gathered) add(series int32) *stream.SampleRow {
	n := len(g.rows)
	if n == cap(g.rows) {
		g.grow()
	}
	g.rows, g.of = g.rows[:n+1], append(g.of, series)
	return &g.rows[n]
}

// grow makes room for twice as many rows, or for all there will be.
func (g *gathered) grow() {
	n := max(len(g.rows), batchRows)
	if all := g.most + batchRows - len(g.rows); all > 0 && all <= 2*n { // a page or two may come before they are handed on
		n = all
	}
	g.rows = slices.Grow(g.rows, n)
}

// sort orders the rows by their tracks. Rows of one stay in order.
func (g *gathered) sort() {
	g.ends = slices.Grow(g.ends, len(g.series))[:len(g.series)]
	clear(g.ends)
	for _, series := range g.of {
		g.ends[series]++ // here, and not as rows come, because such a loop waits for several numbers at a time
	}
	begin := int32(0)
	g.with = 0
	for i, n := range g.ends {
		if n > 0 {
			g.with++
		}
		g.ends[i], begin = begin, begin+n
	}
	g.order = slices.Grow(g.order, len(g.rows))[:len(g.rows)]
	for i, series := range g.of {
		end := &g.ends[series]
		g.order[*end] = int32(i)
		*end++
	}
}

// Series implements [stream.Mixture].
func (g *gathered) Series() int { return len(g.series) }

// Of implements [stream.Mixture].
func (g *gathered) Of(i int) stream.Series { return g.series[i] }

// Rows implements [stream.Mixture].
func (g *gathered) Rows(i int) []int32 {
	begin := int32(0)
	if i > 0 {
		begin = g.ends[i-1]
	}
	return g.order[begin:g.ends[i]]
}

// Arrange implements [stream.Mixture].
func (g *gathered) Arrange(order []int32) { g.wanted = append(g.wanted[:0], order...) }

// Samples implements [stream.Mixture].
func (g *gathered) Samples() []stream.SampleRow { return g.rows }

// take makes b the batch of the next track; it is not ok if there is none.
func (g *gathered) take(b *stream.Batch) (ok bool) {
	for g != nil && g.next < len(g.series) {
		series, rows := g.series[g.next], g.Rows(g.next)
		if g.next++; len(rows) > 0 {
			b.Reset(series, 0)
			b.AppendSamples(g.rows, rows)
			b.DropZeros()
			return true
		}
	}
	return false
}
