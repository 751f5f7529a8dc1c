package pprof

import (
	"encoding/binary"

	"gprof/rawformat/profileproto"
)

// sample is a sample in ids of a pool.
type sample struct {
	stack stackID  // the outer part of its stack
	inner []siteID // the rest, the innermost first
	whose
	values []int64 // in our units; none if the sample is damaged
}

// A sample that is kept is its values, their number before them, each in zigzag;
// and if there are any, before those its stack, labels and goroutine, and the sites
// of the inner part, their number before them; all as ULEB128.

// append appends a sample to those that are kept.
func (s *sample) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s.values)))
	if len(s.values) == 0 {
		return dst
	}
	for _, n := range [...]uint64{uint64(s.stack), uint64(s.labels), uint64(s.goroutine), uint64(len(s.inner))} {
		dst = binary.AppendUvarint(dst, n)
	}
	for _, site := range s.inner {
		dst = binary.AppendUvarint(dst, uint64(site))
	}
	for _, v := range s.values {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}

// take reads a sample off those that are kept.
func (s *sample) take(data []byte) (rest []byte) {
	next := func() uint64 {
		n, size := binary.Uvarint(data)
		data = data[size:]
		return n
	}
	values := next()
	s.values = s.values[:0]
	if values == 0 {
		return data
	}
	s.stack, s.labels, s.goroutine = stackID(next()), labelsID(next()), int64(next())
	s.inner = s.inner[:0]
	for range next() {
		s.inner = append(s.inner, siteID(next()))
	}
	for range values {
		v, size := binary.Varint(data)
		s.values, data = append(s.values, v), data[size:]
	}
	return data
}

// oddities counts what is odd in a file, for the ledger.
type oddities struct {
	definitions, samples int64 // malformed
	inexact              int64 // values too large for their unit
	tooDeep              int64 // stacks
	code, labels         int64 // undefined
}

// sampleReader reads the samples of a file. What its tables say is known.
type sampleReader struct {
	plan   *plan
	code   translation
	labels labels
	sample sample // that was read last

	locations, numbers []uint64 // scratch
	malformed, inexact int64
}

func (r *sampleReader) reset(from *tables, to *Pool, plan *plan) {
	r.plan = plan
	r.code.reset(from, to)
	r.labels.reset(&from.texts, to, plan.heap[0] >= 0)
	r.malformed, r.inexact = 0, 0
}

// read reads the message of a sample.
func (r *sampleReader) read(body []byte) {
	if !r.parse(body) {
		r.malformed++
		r.sample.values = r.sample.values[:0]
		return
	}
	r.sample.stack, r.sample.inner = r.code.stack(r.locations)
	r.sample.whose = r.labels.who()
}

// parse reads all but what the pool knows. It is not ok if the sample is damaged, or
// has not the values that the profile says it has.
func (r *sampleReader) parse(body []byte) (ok bool) {
	r.locations, r.numbers = r.locations[:0], r.numbers[:0]
	r.labels.begin()
	ok = true
	m := message{rest: body}
	for v, more := m.read(); more; v, more = m.read() {
		switch v.number {
		case profileproto.SampleLocations:
			r.locations, _ = v.numbers(r.locations, maxStack+1)
		case profileproto.SampleValues:
			var whole bool
			r.numbers, whole = v.numbers(r.numbers, len(r.plan.measures))
			ok = ok && whole
		case profileproto.SampleLabel:
			r.labels.add(v.bytes)
		}
	}
	r.scale()
	return ok && !m.bad && len(r.sample.values) == len(r.plan.measures)
}

// scale brings the values to our units.
func (r *sampleReader) scale() {
	r.sample.values = r.sample.values[:0]
	for i, n := range r.numbers {
		v, exact := times(int64(n), r.plan.measures[i].factor)
		if !exact {
			r.inexact++
		}
		r.sample.values = append(r.sample.values, v)
	}
}

// odd is what was odd so far.
func (r *sampleReader) odd() oddities {
	return oddities{definitions: r.code.from.malformed, samples: r.malformed, inexact: r.inexact,
		tooDeep: r.code.tooDeep, code: r.code.undefined, labels: r.labels.undefined}
}
