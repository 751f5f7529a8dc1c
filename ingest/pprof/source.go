package pprof

import (
	"fmt"
	"io"
	"time"

	"gprof/ingest/internal/messages"
	"gprof/ingest/internal/naming"
	"gprof/ingest/internal/values"
	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// source is the source of one profile.
type source struct {
	file   *File
	tables *stream.Tables
	id     stream.ProcessID
	shift  stream.Time

	begun, ended bool
	rows         values.Rows
	sampler      *rowMaker
	supply       supply
	pool         *Pool // of supply
}

func newSource(f *File, t *stream.Tables, id stream.ProcessID, shift stream.Time) *source {
	return &source{file: f, tables: t, id: id, shift: shift}
}

// Tables implements [stream.Source].
func (s *source) Tables() *stream.Tables { return s.tables }

// Progress is the bytes of the file that were read for samples.
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

// Next implements [stream.Source]. Damage is a ledger line.
func (s *source) Next(b *stream.Batch) error {
	if !s.begun && !s.ended {
		s.begin()
	}
	for !s.rows.Take(b) {
		if s.ended {
			s.rows = values.Rows{}
			b.Reset(stream.Series{}, 0)
			return io.EOF
		}
		if err := s.fill(); err != nil {
			s.end(err)
		}
	}
	return nil
}

// begin prepares reading samples.
func (s *source) begin() {
	s.begun = true
	plan := s.file.header.plan()
	s.tables.Lock()
	s.rows = values.NewRows(s.tables, s.id, plan)
	for _, m := range s.file.header.mappings {
		if m.file != "" || m.build != "" {
			id := naming.Module(s.tables, m.file, m.build)
			if m.madeUp {
				s.tables.AddMapping(stream.Mapping{Module: id, Path: m.file})
				continue
			}
			s.tables.AddMapping(stream.Mapping{Module: id, Start: m.start, Limit: m.limit, Offset: m.offset, Path: m.file, Names: m.names})
		}
	}
	s.tables.Unlock()
	if s.file.kept != nil {
		s.pool, s.supply = s.file.pool, s.file.takeKept()
	} else if s.file.Files() > 1 {
		s.pool, s.supply = s.file.pool, s.file.takeSum()
	} else {
		from, err := s.file.openSupply(s.tables, plan)
		s.pool, s.supply = from.pool, from
		if err != nil {
			s.end(err)
			return
		}
	}
	s.sampler = &rowMaker{header: s.file.header, rows: &s.rows, shift: s.shift}
}

// fill reads samples until there are rows to hand over. The error is io.EOF at the end, or when the
// tables are full.
func (s *source) fill() error {
	s.tables.Lock()
	defer s.tables.Unlock()
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.sampler.code = s.pool.codeFor(s.tables, s.file.resolve)
	known := s.tables.Stacks.Len()
	for !s.rows.Full() {
		err := s.some()
		s.sampler.finish()
		if err != nil {
			return err
		}
		if now := s.tables.Stacks.Len(); now > known+maxNew { // a sample may have thousands
			known = now
			if s.full() {
				return io.EOF
			}
		}
	}
	s.rows.Hand()
	if s.full() {
		return io.EOF
	}
	return nil
}

// some begins some samples.
func (s *source) some() error {
	for !s.sampler.full() {
		sample, err := s.supply.next()
		if err != nil {
			return err
		}
		s.sampler.begin(sample)
	}
	return nil
}

// maxNew is the number of new stacks after which to check for room.
const maxNew = 1 << 14

// full updates the memory of the pool and reports whether the tables are full.
func (s *source) full() bool {
	s.pool.claim(s.tables)
	return s.tables.Full()
}

// end ends reading; err is the reason, io.EOF at the end.
func (s *source) end(err error) {
	s.ended = true
	s.rows.Hand()
	s.tables.Lock()
	if err != io.EOF {
		s.tables.Ledger.Add(stream.Line{Process: s.file.header.name(), Reason: stream.ReasonUnreadable, What: "files", Where: err.Error(), Count: 1})
	}
	s.tellMore()
	s.tables.Unlock()
	s.release()
}

// Close implements [io.Closer].
func (s *source) Close() error {
	s.ended = true
	s.rows.Drop()
	return s.release()
}

// release frees what only reading needs: there may be a thousand sources.
func (s *source) release() error {
	from := s.supply
	s.supply, s.sampler, s.pool = nil, nil, nil
	if from == nil {
		return nil
	}
	return from.close(s.tables)
}

// tellMore writes anomalies to the ledger.
func (s *source) tellMore() {
	odd := s.supply.odd()
	for key, number := range odd.noted {
		s.tables.NoteLabel(key, number)
	}
	for _, line := range s.file.lines(&odd, s.sampler != nil) {
		line.Process = s.file.header.name()
		s.tables.Ledger.Add(line)
	}
}

// lines are the ledger's about a file, whose samples were read or not.
func (f *File) lines(odd *anomalies, read bool) (all []stream.Line) {
	if f.Files() > 1 {
		return f.sum.ledger.Lines()
	}
	h := f.header
	tell := func(r stream.Reason, what, where string, n int64) {
		if n > 0 {
			all = append(all, stream.Line{Reason: r, What: what, Where: where, Count: n})
		}
	}
	tell(stream.ReasonUnsupported, "comments", "", h.untold)
	all = append(all, h.sum.lines...)
	tell(stream.ReasonMalformed, "definitions", "", odd.definitions)
	tell(stream.ReasonMalformed, "durations", "a time of day instead: samples stand at the time of the profile", h.endless)
	if !read {
		return all
	}
	if h.duration > 0 && h.samples > 0 {
		where := fmt.Sprintf("no moment of their own, spread over %v", time.Duration(h.duration))
		tell(stream.ReasonClock, "samples", where, h.samples)
	}
	tell(stream.ReasonMalformed, "samples", "", odd.samples)
	tell(stream.ReasonMalformed, "values", "beyond 64 bits in their unit", odd.inexact)
	tell(stream.ReasonMalformed, "stacks", fmt.Sprintf("of more than %d frames", maxStack), odd.tooDeep)
	tell(stream.ReasonUndefined, "code", "", odd.code)
	tell(stream.ReasonUndefined, "labels", "", odd.labels)
	return all
}

// supply gives the samples of a file in ids of a pool.
type supply interface {
	// next returns the next sample, valid until the next call; io.EOF at the end. The pool is
	// locked.
	next() (*sample, error)
	// at is the bytes of the file that were read for samples.
	at() int64
	odd() anomalies
	// close frees what was held; t is not locked.
	close(t *stream.Tables) error
}

// keptSupply gives the samples that were stored on opening.
type keptSupply struct {
	pool   *Pool
	size   int64 // of the file
	kept   *fileRows
	rest   []byte // not read yet
	sample sample
}

func (f *File) takeKept() *keptSupply {
	k := &keptSupply{pool: f.pool, size: f.header.size, kept: f.kept, rest: f.kept.samples}
	f.kept = nil
	return k
}

func (k *keptSupply) next() (*sample, error) {
	if len(k.rest) == 0 {
		return nil, io.EOF
	}
	k.rest = k.sample.take(k.rest)
	return &k.sample, nil
}

func (k *keptSupply) at() int64 {
	left := float64(len(k.rest)) / float64(max(1, len(k.kept.samples)))
	return int64((1 - left) * float64(k.size))
}

func (k *keptSupply) odd() anomalies { return k.kept.odd }

func (k *keptSupply) close(t *stream.Tables) error {
	t.Lock()
	defer t.Unlock()
	k.pool.leave(t, len(k.kept.samples))
	return nil
}

// fileSupply reads a file: first its tables, then its samples.
type fileSupply struct {
	file    *File
	in      io.Closer
	fields  *messages.Reader
	tables  tables
	samples sampleReader
	pool    *Pool
	claimed stream.Claim
}

// openSupply reads the tables of a file as far as there is room.
func (f *File) openSupply(t *stream.Tables, plan *values.Plan) (*fileSupply, error) {
	s := &fileSupply{file: f, pool: f.pool.takeSpare()}
	s.tables.reserve(f.header)
	err := s.rewind()
	if err == nil {
		err = s.readTables(t)
	}
	if err == nil {
		err = s.rewind()
	}
	s.pool.mu.Lock()
	s.samples.reset(&s.tables, s.pool, plan)
	s.pool.mu.Unlock()
	return s, err
}

// rewind starts from the beginning.
func (s *fileSupply) rewind() error {
	if err := s.closeFile(); err != nil {
		return err
	}
	in, err := s.file.open()
	if err == nil {
		s.in, s.fields = in, messages.New(io.LimitReader(in, s.file.header.size))
	}
	return err
}

func (s *fileSupply) readTables(t *stream.Tables) error {
	for n := 1; ; n++ {
		v, err := s.fields.Read()
		if err == nil {
			err = s.tables.read(v, 0)
		}
		if (err != nil || n%checkEach == 0) && s.claim(t) || err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// checkEach is the number of messages after which to check for room.
const checkEach = 1 << 14

// claim tells the tables how much memory is held, and reports whether they are full.
func (s *fileSupply) claim(t *stream.Tables) (full bool) {
	t.Lock()
	defer t.Unlock()
	s.claimed.Set(t, s.tables.bytes())
	return t.Full()
}

func (s *fileSupply) next() (*sample, error) {
	for {
		v, err := s.fields.Read()
		if err != nil {
			return nil, err
		}
		if v.Number == profileproto.ProfileSample && known(v) {
			s.samples.read(v.Bytes)
			return &s.samples.sample, nil
		}
	}
}

func (s *fileSupply) at() int64 { return min(s.fields.Offset(), s.file.header.size) }

func (s *fileSupply) odd() anomalies { return s.samples.odd() }

func (s *fileSupply) close(t *stream.Tables) error {
	t.Lock()
	s.claimed.Set(t, 0)
	s.pool.leave(t, 0)
	t.Unlock()
	return s.closeFile()
}

func (s *fileSupply) closeFile() error {
	if s.in == nil {
		return nil
	}
	defer func() { s.in = nil }()
	return s.in.Close()
}
