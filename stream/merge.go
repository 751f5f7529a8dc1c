package stream

import (
	"errors"
	"io"
)

// merged is several sources as one.
type merged struct {
	tables  *Tables
	sources []Source
	next    int
}

// Merge returns a Source of all events of sources, which must share t. It reads
// one after the other. It is a [Progress] of those that are one, and closes
// those that can be.
func Merge(t *Tables, sources ...Source) Source { return &merged{tables: t, sources: sources} }

func (m *merged) Next(b *Batch) error {
	for m.next < len(m.sources) {
		err := m.sources[m.next].Next(b)
		if !errors.Is(err, io.EOF) {
			return err
		}
		m.next++
	}
	return io.EOF
}

// Close implements [io.Closer].
func (m *merged) Close() (err error) {
	for _, s := range m.sources {
		if c, ok := s.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

func (m *merged) Tables() *Tables { return m.tables }

func (m *merged) Progress() (done, total int64) {
	for _, s := range m.sources {
		if p, ok := s.(Progress); ok {
			d, t := p.Progress()
			done, total = done+d, total+t
		}
	}
	return done, total
}
