package stream

import (
	"slices"

	"gprof/stream/internal/pack"
)

// SampleRow is a row of samples by itself. Of very many series each has a few rows at a time: what belongs to one of them lies
// in one place in memory, and not in one of each column. It fills a cache line, and has no pointer.
type SampleRow struct {
	Time              Time
	Index             uint64
	Weight, CPU       int64
	Thread, Goroutine int64
	Stack             StackID
	Labels            LabelsID
	_                 int64
}

// AppendSamples appends rows of a list, by their numbers. All columns of the owner but Span have values then, see [Batch.DropZeros].
func (b *Batch) AppendSamples(all []SampleRow, rows []int32) {
	n := b.moreSamples(len(rows))
	for k, row := range rows {
		s := &all[row] // far from the last one in memory: this loop waits for several at a time
		b.Time[n+k], b.Index[n+k], b.Stack[n+k] = s.Time, s.Index, s.Stack
		b.Weight[n+k], b.CPU[n+k] = s.Weight, s.CPU
		b.Thread[n+k], b.Goroutine[n+k], b.Labels[n+k] = s.Thread, s.Goroutine, s.Labels
	}
}

// AppendSampleRows appends samples.
func (b *Batch) AppendSampleRows(rows []SampleRow) {
	n, all := b.Len(), len(rows)
	times, index, stacks := more(&b.Time, all), more(&b.Index, all), more(&b.Stack, all)
	for i := range rows { // two loops, so that registers suffice
		s := &rows[i]
		times[i], index[i], stacks[i] = s.Time, s.Index, s.Stack
	}
	weights, cpu := more(&b.Weight, all), more(&b.CPU, all)
	var threads, goroutines int64 // bits that some row has
	var labels LabelsID
	for i := range rows {
		s := &rows[i]
		weights[i], cpu[i] = s.Weight, s.CPU
		threads, goroutines, labels = threads|s.Thread, goroutines|s.Goroutine, labels|s.Labels
	}
	if len(b.Thread) > 0 || threads != 0 {
		for i, to := 0, moreSparse(&b.Thread, n, all); i < len(to); i++ {
			to[i] = rows[i].Thread
		}
	}
	if len(b.Goroutine) > 0 || goroutines != 0 {
		for i, to := 0, moreSparse(&b.Goroutine, n, all); i < len(to); i++ {
			to[i] = rows[i].Goroutine
		}
	}
	if len(b.Labels) > 0 || labels != 0 {
		for i, to := 0, moreSparse(&b.Labels, n, all); i < len(to); i++ {
			to[i] = rows[i].Labels
		}
	}
	if len(b.Span) > 0 {
		b.Span = appendZeros(b.Span, all)
	}
}

// more adds so many rows, which are not cleared, to a column, and returns them.
func more[T any](column *[]T, rows int) (added []T) {
	*column, added = pack.Extend(*column, rows)
	return added[:rows]
}

// moreSparse is more of a column that may be empty, though there were rows before.
func moreSparse[T any](column *[]T, before, rows int) (added []T) {
	*column = longer(*column, before, rows)
	return (*column)[before:][:rows]
}

// moreSamples makes room for so many samples, with owners, and returns how many there were.
func (b *Batch) moreSamples(rows int) (before int) {
	n := b.Len()
	b.Time, b.Index, b.Stack = longer(b.Time, n, rows), longer(b.Index, n, rows), longer(b.Stack, n, rows)
	b.Weight, b.CPU = longer(b.Weight, n, rows), longer(b.CPU, n, rows)
	b.Thread, b.Goroutine, b.Labels = longer(b.Thread, n, rows), longer(b.Goroutine, n, rows), longer(b.Labels, n, rows)
	if len(b.Span) > 0 {
		b.Span = appendZeros(b.Span, rows)
	}
	return n
}

// longer adds rows to a column of which some of those before may be missing. The new ones are not cleared.
func longer[T any](column []T, before, rows int) []T {
	if missing := before - len(column); missing > 0 {
		column = appendZeros(column, missing)
	}
	return slices.Grow(column, rows)[:before+rows]
}

// The numbers of a sample that is packed.
const (
	packedTime = iota
	packedIndex
	packedStack
	packedWeight
	packedCPU
	packedThread
	packedGoroutine
	packedLabels
)

// pack makes to the numbers of s.
func (s *SampleRow) pack(to *pack.Row) {
	to[packedTime], to[packedIndex], to[packedStack] = uint64(s.Time), s.Index, uint64(s.Stack)
	to[packedWeight], to[packedCPU] = uint64(s.Weight), uint64(s.CPU)
	to[packedThread], to[packedGoroutine], to[packedLabels] = uint64(s.Thread), uint64(s.Goroutine), uint64(s.Labels)
}

// packSample makes to the numbers of row i, a sample of a mixture.
func (b *Batch) packSample(i int, to *pack.Row) {
	to[packedTime], to[packedIndex], to[packedStack] = uint64(b.Time[i]), b.Index[i], uint64(b.Stack[i])
	to[packedWeight], to[packedCPU] = uint64(b.Weight[i]), uint64(b.CPU[i])
	w := b.Owner(i)
	to[packedThread], to[packedGoroutine], to[packedLabels] = uint64(w.Thread), uint64(w.Goroutine), uint64(w.Labels)
}

// appendPacked appends samples that were packed.
func (b *Batch) appendPacked(rows []pack.Row) {
	n := b.moreSamples(len(rows))
	for i := range rows {
		b.setPacked(n+i, &rows[i])
	}
}

// setPacked sets the columns of row i.
func (b *Batch) setPacked(i int, row *pack.Row) {
	b.Time[i], b.Index[i], b.Stack[i] = Time(row[packedTime]), row[packedIndex], StackID(row[packedStack])
	b.Weight[i], b.CPU[i] = int64(row[packedWeight]), int64(row[packedCPU])
	b.Thread[i], b.Goroutine[i], b.Labels[i] = int64(row[packedThread]), int64(row[packedGoroutine]), LabelsID(row[packedLabels])
}
