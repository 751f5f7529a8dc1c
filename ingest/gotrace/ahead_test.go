package gotrace

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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

// parked is a trace in memory that nothing is read of until it is released.
type parked struct {
	memoryFile
	t        *testing.T
	entered  chan struct{} // closed when the first read begins
	released chan struct{}
	enter    sync.Once
	reading  atomic.Int32
}

func (p *parked) ReadAt(data []byte, off int64) (int, error) {
	p.reading.Add(1)
	defer p.reading.Add(-1)
	p.enter.Do(func() { close(p.entered) })
	<-p.released
	return p.memoryFile.ReadAt(data, off)
}

func (p *parked) Close() error {
	if p.reading.Load() > 0 {
		p.t.Error("it is closed while it is read")
	}
	return nil
}

// TestAheadStops closes a source while it reads.
func TestAheadStops(t *testing.T) {
	data := drawTrace(26, 3)
	f, err := Open(inMemory(data))
	if err != nil {
		t.Fatal(err)
	}
	p := &parked{memoryFile: memoryFile{bytes.NewReader(data)}, t: t, entered: make(chan struct{}), released: make(chan struct{})}
	f.open = func() (io.ReadCloser, error) { return p, nil }
	tables := &stream.Tables{Processes: []stream.Process{f.Process(nil)}}
	src := f.Source(tables, 1, Options{Jobs: 2})
	if err := src.start(); err != nil {
		t.Fatal(err)
	}
	<-p.entered
	closed := make(chan error)
	go func() { closed <- src.Close() }()
	<-src.ahead.quit
	for range 1000 { // so that a Close that does not wait closes it first
		runtime.Gosched()
	}
	close(p.released)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
