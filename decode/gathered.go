package decode

import (
	"slices"

	"gprof/stream"
)

// sampleRow is a sample that has no batch yet.
type sampleRow struct {
	lane              *lane
	at                stream.Time
	index             uint64
	weight, cpu       int64
	thread, goroutine int64
	stack             stream.StackID
	labels            stream.LabelsID
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
	ends   []int32 // of the series in order
	next   int     // series that is to be given
}

// sort orders the rows by their tracks. Rows of one stay in order.
func (g *gathered) sort() {
	g.series, g.ends, g.next = g.series[:0], g.ends[:0], 0
	for i := range g.rows {
		l := g.rows[i].lane
		if int(l.number) >= len(g.series) || g.series[l.number].Track != l.id {
			l.number = int32(len(g.series))
			g.series, g.ends = append(g.series, l.series()), append(g.ends, 0)
		}
		g.ends[l.number]++
	}
	begin := int32(0)
	for i, n := range g.ends {
		g.ends[i], begin = begin, begin+n
	}
	g.order = slices.Grow(g.order[:0], len(g.rows))[:len(g.rows)]
	for i := range g.rows {
		end := &g.ends[g.rows[i].lane.number]
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
	for _, i := range g.order[begin:g.ends[g.next]] {
		s := &g.rows[i]
		b.Time, b.Index, b.Stack = append(b.Time, s.at), append(b.Index, s.index), append(b.Stack, s.stack)
		b.Weight, b.CPU = append(b.Weight, s.weight), append(b.CPU, s.cpu)
		b.AppendOwner(stream.Owner{Thread: s.thread, Goroutine: s.goroutine, Labels: s.labels})
	}
	g.next++
	return true
}
