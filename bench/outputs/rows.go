package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"gprof/convert"
	"gprof/stream"
)

// meter is a sink of which it measures what it takes for rows of some kinds.
type meter struct {
	stream.Sink
	kinds []stream.Kind
	rows  int64
	spent time.Duration
}

func (m *meter) Segment(b *stream.Batch) error {
	if !slices.Contains(m.kinds, b.Series.Kind) {
		return m.Sink.Segment(b)
	}
	begin := cpuTime()
	err := m.Sink.Segment(b)
	m.spent += cpuTime() - begin
	m.rows += int64(b.Len())
	return err
}

// window is how much text is copied at a time: more than caches hold.
const window = 64 << 20

// memcpy is a file of text that it copies from one place in memory to another.
type memcpy struct {
	from, to []byte
	bytes    int64
	took     time.Duration // to copy all of it once
	inWrite  time.Duration
}

func (m *memcpy) Write(p []byte) (int, error) {
	begin := cpuTime()
	m.bytes += int64(len(p))
	if len(m.from)+len(p) > window {
		m.copy()
	}
	m.from = append(m.from, p...)
	m.inWrite += cpuTime() - begin
	return len(p), nil
}

// copy copies what it has.
func (m *memcpy) copy() {
	if len(m.to) < len(m.from) {
		m.to = slices.Clone(m.from) // its pages are there
	}
	begin := cpuTime()
	copy(m.to, m.from)
	m.took += cpuTime() - begin
	m.from = m.from[:0]
}

// oneTrack is a sink that keeps the samples of the first track that has any.
type oneTrack struct {
	tables  *stream.Tables
	track   stream.TrackID
	samples []*stream.Batch
}

// fewStacks is how many stacks the samples have that it keeps: so few that to
// look them up is not to wait for memory.
const fewStacks = 2000

func (t *oneTrack) Begin(tables *stream.Tables) error { t.tables = tables; return nil }
func (t *oneTrack) Close() error                      { return nil }
func (t *oneTrack) Segment(b *stream.Batch) error {
	if b.Series.Kind != stream.Samples || t.track != 0 && t.track != b.Series.Track {
		return nil
	}
	t.track = b.Series.Track
	keep := new(stream.Batch)
	keep.Reset(b.Series, 0)
	keep.AppendRows(b, 0, b.Len())
	for i, id := range keep.Stack {
		keep.Stack[i] = min(id, id%fewStacks+1)
	}
	t.samples = append(t.samples, keep)
	return nil
}

// repeats is how often rows are formatted, once their stacks are known.
const repeats = 8

// formatRows formats the samples of a track again and again, and copies their
// text: it is the price of numbers becoming text, and of nothing else.
func formatRows(name string) work {
	return func(session string) (said, error) {
		var in oneTrack
		if err := copyTo(&in, session); err != nil {
			return said{}, err
		}
		format, o, err := convert.ByName("x." + name)
		if err != nil {
			return said{}, err
		}
		var text memcpy
		sink, err := format.New(&text, o)
		if err != nil {
			return said{}, err
		}
		if err := errors.Join(sink.Begin(in.tables), in.write(sink)); err != nil {
			return said{}, err
		}
		text.copy()
		known := text
		begin := cpuTime()
		for range repeats {
			if err := in.write(sink); err != nil {
				return said{}, err
			}
		}
		spent := cpuTime() - begin - (text.inWrite - known.inWrite)
		text.copy()
		return said{Rows: repeats * in.rows(), CPU: spent, Bytes: text.bytes - known.bytes, Memcpy: text.took - known.took}, sink.Close()
	}
}

func (t *oneTrack) write(sink stream.Sink) error {
	for _, b := range t.samples {
		if err := sink.Segment(b); err != nil {
			return err
		}
	}
	return nil
}

func (t *oneTrack) rows() (n int64) {
	for _, b := range t.samples {
		n += int64(b.Len())
	}
	return n
}

// tableFiles is a directory of tables, of which the size of some counts.
type tableFiles struct {
	tables []string
	bytes  counter
}

func (t *tableFiles) Create(name string) (io.WriteCloser, error) {
	if table, _, _ := strings.Cut(name, "/"); slices.Contains(t.tables, table) {
		return &t.bytes, nil
	}
	return new(counter), nil
}

// writeTable writes Parquet, of which the rows of a kind count, in the tables that they go to: what else
// there is, is written as well, but not measured.
func writeTable(kind stream.Kind, tables ...string) work {
	return func(session string) (said, error) {
		format, o, err := convert.ByName("x.parquet")
		if err != nil {
			return said{}, err
		}
		files := &tableFiles{tables: tables}
		m := &meter{Sink: format.NewIn(files, o), kinds: []stream.Kind{kind}}
		err = copyTo(m, session)
		return said{Bytes: files.bytes.bytes, Rows: m.rows, CPU: m.spent}, err
	}
}
