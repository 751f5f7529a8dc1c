package decode

import "gprof/stream"

// rows are batches that are being filled, one for each series.
type rows struct {
	pending map[stream.Series]*stream.Batch
	order   []*stream.Batch // pending, as first used
	free    spare
	count   int    // rows in order
	flight  uint32 // counts hand-overs
}

// spare is batches to use again. A batch has room for the longest series that it
// ever held, so not all are kept: in the end each would be as large as the
// largest.
type spare struct {
	batches []*stream.Batch
	rows    int // that there is room for
}

const maxSpare = 16 * batchRows

func (s *spare) give(b *stream.Batch) {
	if n := s.rows + cap(b.Time); n <= maxSpare {
		s.batches, s.rows = append(s.batches, b), n
	}
}

// take returns a batch, a new one if there is none.
func (s *spare) take() *stream.Batch {
	n := len(s.batches) - 1
	if n < 0 {
		return new(stream.Batch)
	}
	b := s.batches[n]
	s.batches, s.rows = s.batches[:n], s.rows-cap(b.Time)
	return b
}

// slot keeps the batch of one series until the next hand-over, so that most rows
// need no map.
type slot struct {
	batch  *stream.Batch
	flight uint32 // that batch belongs to; the first is 1
}

// in returns the batch of a series, which is always the same one for the slot.
func (r *rows) in(s *slot, of stream.Series, args int) *stream.Batch {
	if r.current(s) == nil {
		s.batch, s.flight = r.batch(of, args), r.flight+1
	}
	return s.batch
}

// current returns the batch that a slot keeps; nil if it was handed over.
func (r *rows) current(s *slot) *stream.Batch {
	if s.flight != r.flight+1 {
		return nil
	}
	return s.batch
}

func (r *rows) batch(s stream.Series, args int) *stream.Batch {
	b, ok := r.pending[s]
	if !ok {
		b = r.free.take()
		b.Reset(s, args)
		r.pending[s] = b
		r.order = append(r.order, b)
	}
	return b
}

// hand moves all batches to full, and begins anew.
func (r *rows) hand(full []*stream.Batch) []*stream.Batch {
	full = append(full, r.order...)
	r.order, r.count = r.order[:0], 0
	r.flight++
	clear(r.pending)
	return full
}
