package streamtest

import (
	"fmt"
	"io"

	"gprof/stream"
)

// Source is a stream.Source of batches in memory. It knows its progress, of one byte for
// each row.
type Source struct {
	tables  *stream.Tables
	batches []*stream.Batch
	next    int
	done    int64
	total   int64
}

// NewSource returns a Source of these batches, in this order. It does not copy
// them.
func NewSource(t *stream.Tables, batches ...*stream.Batch) *Source {
	s := &Source{tables: t, batches: batches}
	for _, b := range batches {
		s.total += int64(b.Len())
	}
	return s
}

// defaultBatch is the most rows of a batch of Builder.Source: so few that tests see
// several batches.
const defaultBatch = 100

// Source returns a Source of the rows added so far.
func (b *Builder) Source() *Source { return b.SourceOf(defaultBatch) }

// SourceOf is Source with batches of at most size rows.
func (b *Builder) SourceOf(size int) *Source {
	return NewSource(b.Tables, Batches(b.Tables, b.Rows, size)...)
}

// Batches makes batches of at most size rows. A batch is finished when it is full, the
// others at the end.
func Batches(t *stream.Tables, rows []Row, size int) []*stream.Batch {
	open := make(map[stream.Series]*stream.Batch)
	var out []*stream.Batch
	for _, r := range rows {
		b := open[r.Series]
		if b == nil {
			b = new(stream.Batch)
			b.Reset(r.Series, t.Args(r.Series))
			open[r.Series] = b
			out = append(out, b)
		}
		if len(b.Args) != len(r.Args) {
			panic(fmt.Sprintf("streamtest: row of %v has %d arguments, want %d", r.Kind, len(r.Args), len(b.Args)))
		}
		AppendRow(b, r)
		if b.Len() == size {
			delete(open, r.Series)
		}
	}
	return out
}

// Next fills b with a copy of the next batch.
func (s *Source) Next(b *stream.Batch) error {
	if s.next == len(s.batches) {
		b.Reset(stream.Series{}, 0)
		return io.EOF
	}
	from := s.batches[s.next]
	s.next++
	s.done += int64(from.Len())
	b.Reset(from.Series, len(from.Args))
	b.AppendRows(from, 0, from.Len())
	return nil
}

// Tables returns the tables.
func (s *Source) Tables() *stream.Tables { return s.tables }

// Progress returns how many rows were given, and how many there are.
func (s *Source) Progress() (done, total int64) { return s.done, s.total }

// Rewind begins again.
func (s *Source) Rewind() { s.next, s.done = 0, 0 }
