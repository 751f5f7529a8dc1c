// Package batches collects rows of many series into batches, in any order.
package batches

import "gprof/stream"

// handRows is how many rows are handed over at once.
const handRows = 1 << 14

// Batches are those being filled, and those that are ready. The zero Batches is ready to use.
type Batches struct {
	Index uint64 // of the next row

	pending map[stream.Series]*stream.Batch
	order   []*stream.Batch // pending, by first use
	recent  *stream.Batch   // the last one used; nil: none
	count   int             // rows of pending
	ready   []*stream.Batch
	spare   []*stream.Batch
}

// Row begins a row of a series with so many arguments. The caller adds the other columns.
func (q *Batches) Row(s stream.Series, args int, at stream.Time) *stream.Batch {
	b := q.recent
	if b == nil || b.Series != s {
		if b = q.pending[s]; b == nil {
			b = q.batch(s, args)
		}
		q.recent = b
	}
	b.Time, b.Index = append(b.Time, at), append(b.Index, q.Index)
	q.Index++
	q.count++
	return b
}

func (q *Batches) batch(s stream.Series, args int) *stream.Batch {
	b := new(stream.Batch)
	if n := len(q.spare) - 1; n >= 0 {
		b, q.spare = q.spare[n], q.spare[:n]
	}
	b.Reset(s, args)
	if q.pending == nil {
		q.pending = map[stream.Series]*stream.Batch{}
	}
	q.pending[s] = b
	q.order = append(q.order, b)
	return b
}

// Full reports whether there are enough rows to hand over.
func (q *Batches) Full() bool { return q.count >= handRows }

// Hand makes all batches ready; later rows begin new ones.
func (q *Batches) Hand() {
	q.ready = append(q.ready, q.order...)
	q.order, q.count, q.recent = q.order[:0], 0, nil
	clear(q.pending)
}

// maxSpare bounds the reused batches, each of which has room for the longest series it ever held.
const maxSpare = 16

// Take swaps a ready batch for b, whose memory is reused. If none is ready it returns false and
// leaves b alone.
func (q *Batches) Take(b *stream.Batch) bool {
	if len(q.ready) == 0 {
		return false
	}
	next := q.ready[0]
	q.ready = q.ready[1:]
	*b, *next = *next, *b
	if len(q.spare) < maxSpare {
		q.spare = append(q.spare, next)
	}
	return true
}

// Drop drops all rows.
func (q *Batches) Drop() {
	q.ready, q.order, q.count, q.recent = nil, nil, 0, nil
	clear(q.pending)
}
