package gotrace

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"

	"gprof/stream"
)

// rowSink collects all rows as text.
type rowSink struct {
	t    *stream.Tables
	rows []string
}

func (s *rowSink) Begin(t *stream.Tables) error { s.t = t; return nil }
func (s *rowSink) Close() error                 { return nil }

func (s *rowSink) Segment(b *stream.Batch) error {
	for i := range b.Len() {
		s.rows = append(s.rows, fmt.Sprintf("%+v", b.Series)+fmt.Sprint(b.Index[i], b.Time[i], column(b.Stack, i), column(b.Value, i), column(b.Number, i), column(b.Duration, i), column(b.Phase, i), column(b.Goroutine, i), column(b.Thread, i)))
	}
	return nil
}

func column[T any](all []T, i int) any {
	if i < len(all) {
		return all[i]
	}
	return nil
}

// TestAhead holds that the rows are the same if another goroutine reads.
func TestAhead(t *testing.T) {
	torn := drawTrace(26, 6)
	torn[len(torn)/2+100] ^= 0x55
	for name, data := range map[string][]byte{"recorded": record(t), "drawn": drawTrace(22, 5), "damaged": torn} {
		var rows [2][]string
		for jobs := range rows {
			src, err := sourceOf(data, Options{Jobs: 1 + jobs, States: true})
			if err != nil {
				t.Fatal(err)
			}
			var sink rowSink
			if err := stream.Copy(&sink, src, stream.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			rows[jobs] = append(sink.rows, fmt.Sprint(sink.t.Ledger.Lines()))
		}
		if !slices.Equal(rows[0], rows[1]) || len(rows[0]) < 100 {
			t.Errorf("%s: %d and %d rows, or others", name, len(rows[0]), len(rows[1]))
		}
	}
}

// closing fails a test that reads it after it was closed.
type closing struct {
	memoryFile
	t      *testing.T
	closed bool
}

func (c *closing) ReadAt(p []byte, off int64) (int, error) {
	if c.closed {
		c.t.Error("it is read after it was closed")
	}
	return c.memoryFile.ReadAt(p, off)
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestAheadStops closes a source before all is read.
func TestAheadStops(t *testing.T) {
	d := draw(26)
	d.filled = 20
	for n := range uint64(3) {
		d.generation(n+1, (n+1)*second)
	}
	f, err := Open(inMemory(d.out))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		c := &closing{memoryFile: memoryFile{bytes.NewReader(d.out)}, t: t}
		f.open = func() (io.ReadCloser, error) { return c, nil }
		tables := &stream.Tables{Processes: []stream.Process{f.Process(nil)}}
		src := f.Source(tables, 1, Options{Jobs: 2})
		if err := src.start(); err != nil {
			t.Fatal(err)
		}
		src.turn()
		if err := src.Close(); err != nil || !c.closed {
			t.Fatalf("closed: %v, %v", c.closed, err)
		}
	}
}
