package decode

import "gprof/stream"

// sampleBuffer is the next samples of a batch. What belongs to one of them lies in one place in memory until they are many.
type sampleBuffer struct {
	batch *stream.Batch
	n     int
	rows  [32]stream.SampleRow
}

// add adds a sample. If it is full then, it must be flushed.
func (f *sampleBuffer) add(s *stream.SampleRow) (full bool) {
	f.rows[f.n&(len(f.rows)-1)] = *s
	f.n++
	return f.n == len(f.rows)
}

// flush moves the samples to their batch.
func (f *sampleBuffer) flush() {
	f.batch.AppendSampleRows(f.rows[:f.n])
	f.n = 0
}

// addSample adds a sample of a lane.
func (r *rows) addSample(l *lane, s *stream.SampleRow) {
	r.count++
	if l.samples.flight != r.flight+1 {
		l.buffer = r.bufferOf(r.in(&l.samples, l.series(), 0))
	}
	if f := l.buffer; f == nil {
		l.samples.batch.AppendSampleRows([]stream.SampleRow{*s})
	} else if f.add(s) {
		f.flush()
	}
}

// bufferOf returns a buffer for a batch. There are as many as tracks whose samples are not gathered; nil: there would be more.
func (r *rows) bufferOf(b *stream.Batch) (f *sampleBuffer) {
	if len(r.buffers) == manyTracks {
		return nil
	}
	if n := len(r.spareBuffers) - 1; n >= 0 {
		f, r.spareBuffers = r.spareBuffers[n], r.spareBuffers[:n]
	} else {
		f = new(sampleBuffer)
	}
	f.batch = b
	r.buffers = append(r.buffers, f)
	return f
}

// flush moves the samples in buffers to their batches.
func (r *rows) flush() {
	for _, f := range r.buffers {
		f.flush()
		f.batch = nil
	}
	r.spareBuffers = append(r.spareBuffers, r.buffers...)
	r.buffers = r.buffers[:0]
}
