package gecko

import (
	"fmt"
	"io"
	"iter"

	"gprof/stream"
)

// source gives the rows of a reader.
type source struct {
	reader *reader
	next   func() (*stream.Batch, bool)
	stop   func()
	over   bool
}

// Source returns the source of those processes that have an id in t. It is a
// stream.Progress and an io.Closer.
func (p *Profile) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	r := newReader(p, t, ids, shift)
	s := &source{reader: r}
	s.next, s.stop = iter.Pull(r.read)
	return s
}

// Next implements stream.Source.
func (s *source) Next(b *stream.Batch) error {
	if s.over {
		b.Reset(stream.Series{}, 0)
		return io.EOF
	}
	if s.reader.layout == nil {
		s.reader.locate()
	}
	s.reader.t.Lock()
	defer s.reader.t.Unlock()
	got, ok := s.next()
	if !ok {
		s.over = true
		b.Reset(stream.Series{}, 0)
		if err := s.reader.err; err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		return io.EOF
	}
	*b, *got = *got, *b
	return nil
}

// Tables implements stream.Source.
func (s *source) Tables() *stream.Tables { return s.reader.t }

// Progress implements stream.Progress.
func (s *source) Progress() (done, total int64) { return s.reader.done, s.reader.profile.file.size }

// Close ends the source.
func (s *source) Close() error {
	s.stop()
	s.over = true
	return nil
}
