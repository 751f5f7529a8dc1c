package filter_test

import (
	"errors"
	"io"
	"testing"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// traced is two requests of two traces on two goroutines, one of which never ends, and rows that name their
// trace themselves.
func traced() *streamtest.Builder {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1})
	e := b.Event(stream.Event{Name: "request", Fields: []stream.EventField{
		{Name: "trace", Type: stream.Text, Format: stream.FormatTraceID}, {Name: "span", Type: stream.Text, Format: stream.FormatSpanID}}})
	other := b.Event(stream.Event{Name: "other"})
	track := p.Main
	add := func(kind stream.Kind, at stream.Time, w stream.Owner) {
		r := streamtest.Row{Series: stream.Series{Kind: kind}, Time: at, Owner: w}
		if kind == stream.Samples {
			r.Weight = 1
		} else {
			r.Event = other
		}
		track.Add(r)
	}
	for n, phase := range []stream.Phase{stream.Interval, stream.PhaseStart} {
		s := stream.Span{Trace: [2]uint64{7, uint64(n)}, ID: 1}
		r := streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: 10, Phase: phase, Args: []any{s.TraceText(), s.IDText()}, Owner: stream.Owner{Goroutine: int64(n + 1)}}
		if phase == stream.Interval {
			r.Duration = 10
		}
		p.Main.Add(r)
	}
	for at := stream.Time(0); at < 40; at += 5 {
		for g := int64(1); g <= 3; g++ {
			add(stream.Samples, at, stream.Owner{Goroutine: g})
			add(stream.Markers, at, stream.Owner{Goroutine: g})
		}
	}
	far := stream.Span{Trace: [2]uint64{7, 9}, ID: 4}
	track = p.Track("far")
	add(stream.Samples, 100, stream.Owner{Span: far})
	add(stream.Samples, 101, stream.Owner{Labels: b.Tables.Labels.Intern(stream.NewLabelSet(
		stream.Attr{Key: stream.LabelTrace, Value: far.TraceText()}, stream.Attr{Key: stream.LabelSpan, Value: far.IDText()}))})
	add(stream.Samples, 102, stream.Owner{Labels: b.Tables.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: "a", Value: "b"}))})
	return b
}

// A trace is what goroutines did in its spans, and what names it itself.
func TestTrace(t *testing.T) {
	for _, tt := range []struct {
		id      string
		samples int
		markers int // with the span itself
	}{
		{"00000000000000070000000000000000", 3, 4}, // 10, 15, 20
		{"00000000000000070000000000000001", 6, 7}, // from 10 on
		{"00000000000000070000000000000009", 2, 0},
	} {
		q, err := filter.Trace(tt.id)
		if err != nil {
			t.Fatal(err)
		}
		var c stream.Count
		if err := stream.Copy(&c, filter.During(traced().Source(), []filter.Query{q}, filter.DuringOptions{SpillDir: t.TempDir()}), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		rows := map[stream.Kind]int{}
		for _, s := range c.Series {
			rows[s.Kind] += int(s.Rows)
		}
		if rows[stream.Samples] != tt.samples || rows[stream.Markers] != tt.markers {
			t.Errorf("%s: %d samples, %d markers; want %d, %d", tt.id, rows[stream.Samples], rows[stream.Markers], tt.samples, tt.markers)
		}
	}
}

// A trace that is not there is an error, and so is what is no id.
func TestNoTrace(t *testing.T) {
	q, err := filter.Trace("FF000000000000070000000000000000")
	if err != nil {
		t.Fatal(err)
	}
	src := filter.During(traced().Source(), []filter.Query{q}, filter.DuringOptions{})
	for err == nil {
		err = src.Next(new(stream.Batch))
	}
	if !errors.Is(err, filter.ErrNoMatch) {
		t.Errorf("%v, want %v", err, filter.ErrNoMatch)
	}
	if err := src.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"", "7", "00000000000000000000000000000000", "0000000000000007000000000000000x", "000000000000000700000000000000001"} {
		if _, err := filter.Trace(id); !errors.Is(err, filter.ErrTrace) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
