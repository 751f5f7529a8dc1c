package gotrace

import "gprof/stream"

// handRows is how many rows are handed over at once.
const handRows = 1 << 14

// rows are batches that are being filled, one for each series.
type rows struct {
	process stream.ProcessID
	pending map[stream.Series]*stream.Batch
	order   []*stream.Batch // pending, as first used
	spare   []*stream.Batch
	count   int    // rows in order
	index   uint64 // of the next row
}

// begin begins a row of a series at a moment. The caller adds the other columns.
func (r *rows) begin(s stream.Series, args int, at stream.Time) *stream.Batch {
	s.Process = r.process
	b := r.pending[s]
	if b == nil {
		b = r.batch(s, args)
	}
	b.Time, b.Index = append(b.Time, at), append(b.Index, r.index)
	r.index++
	r.count++
	return b
}

func (r *rows) batch(s stream.Series, args int) *stream.Batch {
	b := new(stream.Batch)
	if n := len(r.spare) - 1; n >= 0 {
		b, r.spare = r.spare[n], r.spare[:n]
	}
	b.Reset(s, args)
	if r.pending == nil {
		r.pending = map[stream.Series]*stream.Batch{}
	}
	r.pending[s] = b
	r.order = append(r.order, b)
	return b
}

// hand moves all batches to full, and begins anew.
func (r *rows) hand(full []*stream.Batch) []*stream.Batch {
	full = append(full, r.order...)
	r.order, r.count = r.order[:0], 0
	clear(r.pending)
	return full
}

// maxSpare bounds the batches that are kept to be used again: one has room for
// the longest series that it ever held.
const maxSpare = 16

func (r *rows) giveBack(b *stream.Batch) {
	if len(r.spare) < maxSpare {
		r.spare = append(r.spare, b)
	}
}
