package totals

import (
	"iter"
	"slices"

	"gprof/stream"
)

// Part is totals that are delivered together: those of a track, one of its buckets, or as many as are held.
type Part struct {
	Process stream.ProcessID
	Track   stream.TrackID
	Kind    stream.Kind      // of the rows that were added up
	Measure stream.CounterID // of the totals; 0 if they are no measurements
	At      stream.Time      // beginning of the bucket

	rows  [][]row // pageRows in each but the last
	spans []stream.Span
	some  []Total // scratch
}

// row is a Total as it is held: sums touch a row in memory for each sample, so it is small.
type row struct {
	key
	values [4]int64 // by kind: weight and CPU time; time of waiting; value of a measure; memory
}

// key identifies a total in a part.
type key struct {
	stack     stream.StackID
	labels    stream.LabelsID
	goroutine int64
	span      int32 // 1 + index in spans; 0 none
}

// So many rows can't be one slice: to copy it when it grows takes long, and while that is done on one
// core the collector of garbage waits on another.
const (
	pageBits = 10
	pageRows = 1 << pageBits
)

func (p *Part) at(i int32) *row { return &p.rows[i>>pageBits][i&(pageRows-1)] }

func (p *Part) len() int {
	last := len(p.rows) - 1
	if last < 0 {
		return 0
	}
	return last<<pageBits + len(p.rows[last])
}

// push adds a row of zeros.
func (p *Part) push(k key) *row {
	last := len(p.rows) - 1
	if last < 0 || len(p.rows[last]) == pageRows {
		last++
		p.rows = slices.Grow(p.rows, 1)[:last+1]
		p.rows[last] = p.rows[last][:0] // one that was used before, or none
	}
	page := append(p.rows[last], row{key: k})
	p.rows[last] = page
	return &page[len(page)-1]
}

// reset empties the part and keeps its memory.
func (p *Part) reset() { p.rows, p.spans = p.rows[:0], p.spans[:0] }

// All is the totals in the order of first use of stacks. Each is valid until the next.
func (p *Part) All() iter.Seq[*Total] {
	return func(yield func(*Total) bool) {
		for some := range p.Chunks(64) {
			for i := range some {
				if !yield(&some[i]) {
					return
				}
			}
		}
	}
}

// Chunks is the totals of All, up to n at once. They are valid until the next ones.
func (p *Part) Chunks(n int) iter.Seq[[]Total] {
	return func(yield func([]Total) bool) {
		for _, page := range p.rows {
			for rows := range slices.Chunk(page, n) {
				p.some = p.some[:0]
				for i := range rows {
					p.some = append(p.some, p.total(&rows[i]))
				}
				if !yield(p.some) {
					return
				}
			}
		}
	}
}

func (p *Part) total(r *row) Total {
	t := Total{Stack: r.stack, Owner: stream.Owner{Goroutine: r.goroutine, Labels: r.labels}}
	if r.span != 0 {
		t.Owner.Span = p.spans[r.span-1]
	}
	switch v := &r.values; p.Kind {
	case stream.Allocations:
		t.Allocated, t.Freed = Memory{v[0], v[1]}, Memory{v[2], v[3]}
	case stream.Waits:
		t.Wall = v[0]
	case stream.Measurements:
		t.Value = v[0]
	default:
		t.Weight, t.CPU = v[0], v[1]
	}
	return t
}
