package pprof

import (
	"fmt"
	"io"
	"time"

	"gprof/stream"
)

// maxHeld is up to which size a file is held in memory while it is read. A larger
// one is unpacked twice.
const maxHeld = 8 << 20

// source is the source of one profile.
type source struct {
	file   *File
	tables *stream.Tables
	id     stream.ProcessID
	shift  stream.Time

	begun, ended bool
	rows         rows
	code         *tables
	sampler      *sampler
	in           *input
	hold         int64 // bytes that tables are told of
}

func newSource(f *File, t *stream.Tables, id stream.ProcessID, shift stream.Time) *source {
	return &source{file: f, tables: t, id: id, shift: shift}
}

// Tables implements [stream.Source].
func (s *source) Tables() *stream.Tables { return s.tables }

// Progress is how many bytes of the file were read for their samples.
func (s *source) Progress() (done, total int64) {
	total = s.file.header.size
	switch {
	case s.ended:
		return total, total
	case s.sampler != nil:
		return min(s.in.fields.offset(), total), total
	}
	return 0, total
}

// Next implements [stream.Source]. What can't be read is a line in the ledger.
func (s *source) Next(b *stream.Batch) error {
	if !s.begun && !s.ended {
		s.begin()
	}
	for !s.ended && len(s.rows.full) == 0 {
		s.fill()
	}
	if s.rows.take(b) {
		return nil
	}
	s.rows = rows{}
	b.Reset(stream.Series{}, 0)
	return io.EOF
}

// begin reads the tables, and goes to the front again.
func (s *source) begin() {
	s.begun = true
	plan := planOf(s.file.header)
	s.tables.Lock()
	s.rows = newRows(s.tables, s.id, len(plan.measures))
	s.tables.Unlock()
	s.code = newTables(s.file.header)
	s.in = &input{file: s.file}
	if err := s.in.rewind(); err != nil {
		s.end(err)
		return
	}
	if s.in.held != nil {
		s.code.texts.data, s.code.texts.held = s.in.held, true
	}
	err := s.readTables()
	if err == nil {
		err = s.in.rewind()
	}
	if err != nil || s.claim() {
		s.end(err)
		return
	}
	s.sampler = &sampler{header: s.file.header, plan: plan, code: newCode(s.code, s.tables), rows: &s.rows, shift: s.shift,
		labels: labels{from: &s.code.texts, to: s.tables, heap: plan.heap[0] >= 0}}
}

// readTables reads the file for its tables, as long as there is room for them.
func (s *source) readTables() error {
	for n := 1; ; n++ {
		v, err := s.in.fields.read()
		if err == nil {
			err = s.code.read(&v, s.in.fields.offset())
		}
		full := (err != nil || n%checkEach == 0) && s.claim()
		if err == io.EOF || err == nil && full {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// checkEach is after how many messages it is asked whether there is room for more.
const checkEach = 1 << 14

// claim tells how much memory is held beside the tables of the run, and whether
// they are full.
func (s *source) claim() (full bool) {
	now := s.code.bytes() + int64(len(s.in.held))
	s.tables.Lock()
	defer s.tables.Unlock()
	s.tables.Hold(now - s.hold)
	s.hold = now
	return s.tables.Full()
}

// fill reads until there are rows to hand over, or nothing is left.
func (s *source) fill() {
	s.tables.Lock()
	err := s.read()
	s.tables.Unlock()
	if err != nil {
		s.end(err)
	}
}

// read reads samples until there are rows. The error is io.EOF at the end, or
// where there is no room for more.
func (s *source) read() error {
	for len(s.rows.full) == 0 {
		v, err := s.in.fields.read()
		if err != nil {
			return err
		}
		if v.number == profileSample && v.known() {
			s.sampler.read(v.bytes)
		}
	}
	if s.tables.Full() {
		return io.EOF
	}
	return nil
}

// end ends reading; err is why it is too early, io.EOF or nil if it is not.
func (s *source) end(err error) {
	s.ended = true
	s.rows.finish()
	if err != nil && err != io.EOF {
		s.tell(stream.ReasonUnreadable, "files", err.Error(), 1)
	}
	s.tellMore()
	s.release()
}

// Close implements [io.Closer].
func (s *source) Close() error {
	s.ended, s.rows.full = true, nil
	return s.release()
}

// release gives back what only reading needs: there may be a thousand sources.
func (s *source) release() error {
	s.tables.Lock()
	s.tables.Hold(-s.hold)
	s.tables.Unlock()
	in := s.in
	s.hold, s.in, s.code, s.sampler = 0, nil, nil, nil
	if in == nil {
		return nil
	}
	return in.close()
}

// tellMore tells the ledger what is odd in the file, and what has no place.
func (s *source) tellMore() {
	h := s.file.header
	s.tell(stream.ReasonUnsupported, "comments", "", h.untold)
	s.tell(stream.ReasonMalformed, "definitions", "", s.code.malformed)
	m := s.sampler
	if m == nil {
		return
	}
	if h.duration > 0 && h.samples > 0 {
		where := fmt.Sprintf("no moment of their own, spread over %v", time.Duration(h.duration))
		s.tell(stream.ReasonClock, "samples", where, h.samples)
	}
	s.tell(stream.ReasonMalformed, "samples", "", m.malformed)
	s.tell(stream.ReasonMalformed, "values", "beyond 64 bits in their unit", m.inexact)
	s.tell(stream.ReasonMalformed, "stacks", fmt.Sprintf("of more than %d frames", maxStack), m.code.tooDeep)
	s.tell(stream.ReasonUndefined, "code", "", m.code.undefined)
	s.tell(stream.ReasonUndefined, "labels", "", m.labels.undefined)
	s.tell(stream.ReasonUnsupported, "labels", "of allocations", m.unlabeled)
}

// tell adds a line to the ledger, unless it counts nothing.
func (s *source) tell(r stream.Reason, what, where string, n int64) {
	if n > 0 {
		s.tables.Lock()
		defer s.tables.Unlock()
		s.tables.Ledger.Add(stream.Line{Process: s.file.header.name(), Reason: r, What: what, Where: where, Count: n})
	}
}
