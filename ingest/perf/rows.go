package perf

import "gprof/stream"

// handRows is how many rows are handed over at once.
const handRows = 1 << 14

// rows are batches that are being filled, one for each series.
type rows struct {
	pending map[stream.Series]*stream.Batch
	order   []*stream.Batch // pending, as first used
	spare   []*stream.Batch
	count   int
	index   uint64
}

// begin begins a row. The caller adds the other columns.
func (r *rows) begin(s stream.Series, at stream.Time, who stream.Who) *stream.Batch {
	b := r.pending[s]
	if b == nil {
		b = r.batch(s)
	}
	r.index++
	r.count++
	b.Time, b.Index = append(b.Time, at), append(b.Index, r.index)
	if s.Kind.Columns()&stream.UsesWho != 0 {
		b.AppendWho(who)
	}
	return b
}

func (r *rows) batch(s stream.Series) *stream.Batch {
	b := new(stream.Batch)
	if n := len(r.spare) - 1; n >= 0 {
		b, r.spare = r.spare[n], r.spare[:n]
	}
	b.Reset(s, 0)
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

// maxSpare bounds the batches that are kept to be used again.
const maxSpare = 16

func (r *rows) giveBack(b *stream.Batch) {
	if len(r.spare) < maxSpare {
		r.spare = append(r.spare, b)
	}
}
