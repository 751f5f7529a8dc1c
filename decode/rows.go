package decode

import "gprof/stream"

// rows are batches that are being filled, one for each series.
type rows struct {
	pending map[stream.Series]*stream.Batch
	order   []*stream.Batch // pending, as first used
	free    []*stream.Batch
	count   int    // rows in order
	flight  uint32 // counts hand-overs
}

// slot keeps the batch of one series until the next hand-over, so that most rows
// need no map.
type slot struct {
	batch  *stream.Batch
	flight uint32 // that batch belongs to; the first is 1
}

// in returns the batch of a series, which is always the same one for the slot.
func (r *rows) in(s *slot, of stream.Series, args int) *stream.Batch {
	if s.flight != r.flight+1 {
		s.batch, s.flight = r.batch(of, args), r.flight+1
	}
	return s.batch
}

func (r *rows) batch(s stream.Series, args int) *stream.Batch {
	b, ok := r.pending[s]
	if !ok {
		b = new(stream.Batch)
		if n := len(r.free); n > 0 {
			b, r.free = r.free[n-1], r.free[:n-1]
		}
		b.Reset(s, args)
		r.pending[s] = b
		r.order = append(r.order, b)
	}
	return b
}

// hand moves all batches to full, and begins anew with those of empty.
func (r *rows) hand(full, empty []*stream.Batch) []*stream.Batch {
	full = append(full, r.order...)
	r.free = append(r.free, empty...)
	r.order, r.count = r.order[:0], 0
	r.flight++
	clear(r.pending)
	return full
}
