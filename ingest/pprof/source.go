package pprof

import (
	"fmt"
	"io"
	"time"

	"gprof/stream"
)

// source is the source of one profile.
type source struct {
	file   *File
	tables *stream.Tables
	id     stream.ProcessID
	shift  stream.Time

	begun, ended bool
	rows         rows
	sampler      *sampler
	supply       supply
	pool         *Pool // of what is supplied
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
	case s.supply != nil:
		return s.supply.at(), total
	}
	return 0, total
}

// Next implements [stream.Source]. What can't be read is a line in the ledger.
func (s *source) Next(b *stream.Batch) error {
	if !s.begun && !s.ended {
		s.begin()
	}
	for !s.ended && len(s.rows.full) == 0 {
		if err := s.fill(); err != nil {
			s.end(err)
		}
	}
	if s.rows.take(b) {
		return nil
	}
	s.rows = rows{}
	b.Reset(stream.Series{}, 0)
	return io.EOF
}

// begin makes samples ready to be read.
func (s *source) begin() {
	s.begun = true
	plan := planOf(s.file.header)
	s.tables.Lock()
	s.rows = newRows(s.tables, s.id, len(plan.measures))
	for _, m := range s.file.header.mappings {
		if m.file != "" || m.build != "" {
			id := s.tables.Modules.Intern(moduleOf(m.file, m.build))
			s.tables.AddMapping(stream.Mapping{Module: id, Start: m.start, Limit: m.limit, Offset: m.offset, Path: m.file, Names: m.names})
		}
	}
	s.tables.Unlock()
	if s.file.kept != nil {
		s.pool, s.supply = s.file.pool, s.file.takeKept()
	} else {
		from, err := s.file.openSupply(s.tables, plan)
		s.pool, s.supply = from.pool, from
		if err != nil {
			s.end(err)
			return
		}
	}
	s.sampler = &sampler{header: s.file.header, plan: plan, rows: &s.rows, shift: s.shift}
}

// fill reads samples until there are rows to hand over. The error is io.EOF at the
// end, or where there is no room for more.
func (s *source) fill() error {
	s.tables.Lock()
	defer s.tables.Unlock()
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.sampler.code = s.pool.codeFor(s.tables, s.file.resolve)
	known := s.tables.Stacks.Len()
	for len(s.rows.full) == 0 {
		sample, err := s.supply.next()
		if err != nil {
			return err
		}
		s.sampler.add(sample)
		if now := s.tables.Stacks.Len(); now > known+maxNew { // a sample may have thousands
			known = now
			if s.full() {
				return io.EOF
			}
		}
	}
	if s.full() {
		return io.EOF
	}
	return nil
}

// maxNew is after how many new stacks it is asked whether there is room for more.
const maxNew = 1 << 14

// full says how much the pool holds, and whether there is no room for more.
func (s *source) full() bool {
	s.pool.claim(s.tables)
	return s.tables.Full()
}

// end ends reading; err is why it is too early, io.EOF if it is not.
func (s *source) end(err error) {
	s.ended = true
	s.rows.finish()
	s.tables.Lock()
	if err != io.EOF {
		s.tell(stream.ReasonUnreadable, "files", err.Error(), 1)
	}
	s.tellMore()
	s.tables.Unlock()
	s.release()
}

// Close implements [io.Closer].
func (s *source) Close() error {
	s.ended, s.rows.full = true, nil
	return s.release()
}

// release gives back what only reading needs: there may be a thousand sources.
func (s *source) release() error {
	from := s.supply
	s.supply, s.sampler, s.pool = nil, nil, nil
	if from == nil {
		return nil
	}
	return from.close(s.tables)
}

// tellMore tells the ledger what is odd in the file, and what has no place.
func (s *source) tellMore() {
	h, odd := s.file.header, s.supply.odd()
	s.tell(stream.ReasonUnsupported, "comments", "", h.untold)
	s.tell(stream.ReasonMalformed, "definitions", "", odd.definitions)
	s.tell(stream.ReasonMalformed, "durations", "a time of day instead: samples stand at the time of the profile", h.endless)
	if s.sampler == nil {
		return
	}
	if h.duration > 0 && h.samples > 0 {
		where := fmt.Sprintf("no moment of their own, spread over %v", time.Duration(h.duration))
		s.tell(stream.ReasonClock, "samples", where, h.samples)
	}
	s.tell(stream.ReasonMalformed, "samples", "", odd.samples)
	s.tell(stream.ReasonMalformed, "values", "beyond 64 bits in their unit", odd.inexact)
	s.tell(stream.ReasonMalformed, "stacks", fmt.Sprintf("of more than %d frames", maxStack), odd.tooDeep)
	s.tell(stream.ReasonUndefined, "code", "", odd.code)
	s.tell(stream.ReasonUndefined, "labels", "", odd.labels)
	s.tell(stream.ReasonUnsupported, "labels", "of allocations", s.sampler.unlabeled)
}

// tell adds a line to the ledger, unless it counts nothing.
func (s *source) tell(r stream.Reason, what, where string, n int64) {
	if n > 0 {
		s.tables.Ledger.Add(stream.Line{Process: s.file.header.name(), Reason: r, What: what, Where: where, Count: n})
	}
}
