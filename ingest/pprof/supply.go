package pprof

import (
	"io"

	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// supply gives the samples of a file in ids of a pool.
type supply interface {
	// next returns the next sample, which is valid until another is wanted, io.EOF
	// behind the last one. The pool is locked.
	next() (*sample, error)
	// at is how much of the file was read for samples, in bytes.
	at() int64
	odd() oddities
	// close gives back what was held; t is not locked.
	close(t *stream.Tables) error
}

// keptSupply gives what was kept when the file was opened.
type keptSupply struct {
	pool   *Pool
	size   int64 // of the file
	kept   *kept
	rest   []byte // of what is kept
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

func (k *keptSupply) odd() oddities { return k.kept.odd }

func (k *keptSupply) close(t *stream.Tables) error {
	t.Lock()
	defer t.Unlock()
	k.pool.leave(t, len(k.kept.samples))
	return nil
}

// fileSupply reads a file: first for its tables, then for its samples.
type fileSupply struct {
	file    *File
	in      io.Closer
	fields  *fields
	tables  tables
	samples sampleReader
	pool    *Pool
	hold    int64 // bytes that the run is told of
}

// openSupply reads the tables of a file, as long as there is room for them in a
// run.
func (f *File) openSupply(t *stream.Tables, plan *plan) (*fileSupply, error) {
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

// rewind begins at the front.
func (s *fileSupply) rewind() error {
	if err := s.closeFile(); err != nil {
		return err
	}
	in, err := s.file.open()
	if err == nil {
		s.in, s.fields = in, newFields(io.LimitReader(in, s.file.header.size))
	}
	return err
}

func (s *fileSupply) readTables(t *stream.Tables) error {
	for n := 1; ; n++ {
		v, err := s.fields.read()
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

// checkEach is after how many messages it is asked whether there is room for more.
const checkEach = 1 << 14

// claim tells how much memory is held beside the tables of the run, and reports
// whether that is too much.
func (s *fileSupply) claim(t *stream.Tables) (full bool) {
	t.Lock()
	defer t.Unlock()
	now := s.tables.bytes()
	t.Hold(now - s.hold)
	s.hold = now
	return t.Full()
}

func (s *fileSupply) next() (*sample, error) {
	for {
		v, err := s.fields.read()
		if err != nil {
			return nil, err
		}
		if v.number == profileproto.ProfileSample && v.known() {
			s.samples.read(v.bytes)
			return &s.samples.sample, nil
		}
	}
}

func (s *fileSupply) at() int64 { return min(s.fields.offset(), s.file.header.size) }

func (s *fileSupply) odd() oddities { return s.samples.odd() }

func (s *fileSupply) close(t *stream.Tables) error {
	t.Lock()
	t.Hold(-s.hold)
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
