package pprof

import "gprof/stream"

// rows are the batches of a process that are being filled.
type rows struct {
	tables  *stream.Tables
	process stream.ProcessID
	main    stream.TrackID
	index   uint64

	open []*stream.Batch // by slot
	full []*stream.Batch
	free []*stream.Batch
}

// The slots of the kinds; behind them are those of the measures.
const (
	slotSamples = iota
	slotAllocations
	slotMeasures
)

func newRows(t *stream.Tables, process stream.ProcessID, measures int) rows {
	name := t.Process(process).Name
	return rows{tables: t, process: process, main: t.Tracks.Intern(stream.Track{Process: process, Name: name, Main: true}),
		open: make([]*stream.Batch, slotMeasures+measures)}
}

func (r *rows) samples() *stream.Batch {
	return r.batch(slotSamples, func() stream.Series {
		return stream.Series{Process: r.process, Track: r.main, Kind: stream.Samples}
	})
}

func (r *rows) allocations() *stream.Batch {
	return r.batch(slotAllocations, func() stream.Series {
		return stream.Series{Process: r.process, Track: r.main, Kind: stream.Allocations}
	})
}

// measurements have a track for each measure.
func (r *rows) measurements(i int, c stream.Counter) *stream.Batch {
	return r.batch(slotMeasures+i, func() stream.Series {
		c.Process = r.process
		track := r.tables.Tracks.Intern(stream.Track{Process: r.process, Name: c.Name, Root: true})
		return stream.Series{Process: r.process, Track: track, Kind: stream.Measurements, Counter: r.tables.Counters.Intern(c)}
	})
}

// batch returns that of a slot, which has room for a row.
func (r *rows) batch(slot int, series func() stream.Series) *stream.Batch {
	b := r.open[slot]
	if b != nil && b.Len() < maxRows {
		return b
	}
	if b != nil {
		r.full = append(r.full, b)
	}
	b = new(stream.Batch)
	if n := len(r.free); n > 0 {
		b, r.free = r.free[n-1], r.free[:n-1]
	}
	b.Reset(series(), 0)
	r.open[slot] = b
	return b
}

// row begins a row of a sample.
func (r *rows) row(b *stream.Batch, p *place) {
	r.index++
	b.Time, b.Index = append(b.Time, p.at), append(b.Index, r.index)
	b.Stack = append(b.Stack, p.stack)
}

// take swaps a full batch for b.
func (r *rows) take(b *stream.Batch) (ok bool) {
	if len(r.full) == 0 {
		return false
	}
	next := r.full[0]
	r.full = r.full[1:]
	*b, *next = *next, *b
	r.free = append(r.free, next)
	return true
}

// finish says that all batches are full that have rows.
func (r *rows) finish() {
	for slot, b := range r.open {
		if b != nil {
			r.full, r.open[slot] = append(r.full, b), nil
		}
	}
}
