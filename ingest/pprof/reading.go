package pprof

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"
)

// maxHeld is up to which size a file is held in memory while it is read, once. A
// larger one is unpacked three times.
const maxHeld = 8 << 20

// reading is the reading of a file that is held in memory. It may be used for one
// after the other.
type reading struct {
	held     []byte
	tables   tables
	messages []extent // of samples, in held
	samples  sampleReader
	out      []byte
}

func (p *Pool) takeReading() *reading {
	if r, ok := p.readings.Get().(*reading); ok {
		return r
	}
	return new(reading)
}

// hold reads a file to its end, unless it is too large. What was read is held, also
// before an error.
func (r *reading) hold(in io.Reader) (whole bool, err error) {
	r.held = r.held[:0]
	for err == nil && len(r.held) <= maxHeld {
		r.held = slices.Grow(r.held, window)
		var n int
		n, err = in.Read(r.held[len(r.held):cap(r.held)])
		r.held = r.held[:len(r.held)+n]
	}
	return err != nil, err
}

// scan reads what is held for its header, its tables, and where its samples are;
// end is the error that is behind it. When it returns a header and an error, the
// file is intact up to there.
func (r *reading) scan(end error) (*header, error) {
	r.tables.reset()
	r.tables.texts.data, r.tables.texts.held = r.held, true
	s := scanner{fields: &fields{buf: r.held, err: end}, tables: &r.tables, samples: r.messages[:0], all: true}
	err := s.scan()
	r.messages = s.samples
	digest := sha256.Sum256(r.held)
	s.h.instance = max(1, binary.BigEndian.Uint64(digest[:]))
	return s.resolve(err)
}

// kept is what is held of a file that was read: its samples, as [sample.append] has
// them, and what was odd.
type kept struct {
	samples []byte
	odd     oddities
}

// keep puts what was scanned into a pool, nil if that is full.
func (r *reading) keep(p *Pool, h *header) *kept {
	plan := planOf(h)
	if p.use() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r.samples.reset(&r.tables, p, plan)
	r.out = r.out[:0]
	for _, m := range r.messages {
		r.samples.read(r.held[m.from:m.to])
		r.out = r.samples.sample.append(r.out)
	}
	p.kept += int64(len(r.out))
	return &kept{bytes.Clone(r.out), r.samples.odd()}
}
