package decode

import (
	"slices"

	"gprof/stream"
)

// sampleRow is a sample that has no batch yet. It fills a cache line, and has no pointer, so that no collection of garbage
// looks through thousands of them.
type sampleRow struct {
	at                stream.Time
	index             uint64
	weight, cpu       int64
	thread, goroutine int64
	stack             stream.StackID
	labels            stream.LabelsID
	series            int32 // its number
}

// manyTracks is of how many tracks samples are gathered. Each has only some rows at a time, and filling as many batches
// waits for the memory of every column of each. So all rows are in one list, and become the batch of a track when its turn
// comes. Of 32 tracks that takes 5 % longer.
const manyTracks = 128

// gathered is samples of many tracks.
type gathered struct {
	rows   []sampleRow
	order  []int32 // of the rows, by track
	series []stream.Series
	ends   []int32 // of the series in order; before sort, how many rows each has
	next   int     // series that is to be given
}

// reset empties g, keeping its memory.
func (g *gathered) reset() {
	*g = gathered{rows: g.rows[:0], order: g.order[:0], series: g.series[:0], ends: g.ends[:0]}
}

// number is that of the series of a lane, a new one if it was asked for in no hand-over so far, or in another one.
func (g *gathered) number(l *lane, flight uint32) int32 {
	if l.flight != flight {
		l.numbered = numbered{int32(len(g.series)), flight}
		g.series, g.ends = append(g.series, l.series()), append(g.ends, 0)
	}
	return l.number
}

// add adds a row, which is filled in place.
func (g *gathered) add(series int32) *sampleRow {
	n := len(g.rows)
	if n == cap(g.rows) {
		g.rows = slices.Grow(g.rows, 1)
	}
	g.rows = g.rows[:n+1]
	g.ends[series]++
	return &g.rows[n]
}

// sort orders the rows by their tracks. Rows of one stay in order.
func (g *gathered) sort() {
	begin := int32(0)
	for i, n := range g.ends {
		g.ends[i], begin = begin, begin+n
	}
	g.order = slices.Grow(g.order, len(g.rows))[:len(g.rows)]
	for i := range g.rows {
		end := &g.ends[g.rows[i].series]
		g.order[*end] = int32(i)
		*end++
	}
}

// take makes b the batch of the next track; it is not ok if there is none.
func (g *gathered) take(b *stream.Batch) (ok bool) {
	if g == nil || g.next == len(g.series) {
		return false
	}
	begin := int32(0)
	if g.next > 0 {
		begin = g.ends[g.next-1]
	}
	b.Reset(g.series[g.next], 0)
	g.fill(b, g.order[begin:g.ends[g.next]])
	g.next++
	return true
}

// fill makes these rows those of b.
func (g *gathered) fill(b *stream.Batch, order []int32) {
	var owned sampleRow // what any row has
	for _, row := range order {
		s := &g.rows[row] // far from the last one in memory: this loop waits for several at a time
		owned.thread, owned.goroutine, owned.labels = owned.thread|s.thread, owned.goroutine|s.goroutine, owned.labels|s.labels
	}
	n := len(order)
	b.Time, b.Index, b.Stack = slices.Grow(b.Time, n)[:n], slices.Grow(b.Index, n)[:n], slices.Grow(b.Stack, n)[:n]
	b.Weight, b.CPU = slices.Grow(b.Weight, n)[:n], slices.Grow(b.CPU, n)[:n]
	thread, goroutine, labels := slices.Grow(b.Thread, n)[:n], slices.Grow(b.Goroutine, n)[:n], slices.Grow(b.Labels, n)[:n]
	for i, row := range order {
		s := &g.rows[row]
		b.Time[i], b.Index[i], b.Stack[i] = s.at, s.index, s.stack
		b.Weight[i], b.CPU[i] = s.weight, s.cpu
		thread[i], goroutine[i], labels[i] = s.thread, s.goroutine, s.labels
	}
	b.Thread = thread[:used(n, owned.thread != 0)]
	b.Goroutine = goroutine[:used(n, owned.goroutine != 0)]
	b.Labels = labels[:used(n, owned.labels != 0)]
}

// used is the length of a column of n rows, which is empty unless some row has a value.
func used(n int, some bool) int {
	if some {
		return n
	}
	return 0
}
