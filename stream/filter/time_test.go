package filter_test

import (
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

func TestSliceConforms(t *testing.T) {
	streamtest.TestSource(t, func(t *testing.T) stream.Source { return filter.ByTime(streamtest.Busy(3000).Source(), 300, 700) })
}

// Rows are kept by their times, intervals by the time that they cover.
func TestSlice(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1})
	event := b.Event(stream.Event{Name: "e"})
	text := b.Event(stream.Event{Name: "t", Fields: []stream.EventField{{Name: "s", Type: stream.Text}}})
	for _, at := range []stream.Time{math.MinInt64, 99, 100, 150, 199, 200, math.MaxInt64} {
		p.Main.Sample(at, 0)
	}
	for _, span := range [][2]int64{{math.MinInt64, math.MaxInt64}, {50, 50}, {50, 51}, {99, 200}, {100, 0}, {150, 10}, {199, 500}, {200, 5}} {
		p.Main.Interval(stream.Time(span[0]), span[1], event)
	}
	p.Main.Mark(90, stream.PhaseStart, text, "out")
	p.Main.Mark(110, stream.PhaseEnd, text, "in")
	p.Main.Mark(210, stream.Instant, text, "out")
	var count stream.Count
	if err := stream.Copy(&count, filter.ByTime(b.Source(), 100, 200), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	want := map[stream.Series]stream.Tally{
		{Process: 1, Track: 1, Kind: stream.Samples}:           {Rows: 3, Samples: 3, First: 100, Last: 199},
		{Process: 1, Track: 1, Kind: stream.Markers, Event: 1}: {Rows: 5, First: 50, Last: 699},
		{Process: 1, Track: 1, Kind: stream.Markers, Event: 2}: {Rows: 1, First: 110, Last: 110},
	}
	if len(count.Series) != len(want) {
		t.Errorf("%d series, want %d", len(count.Series), len(want))
	}
	for _, s := range count.Series {
		if s.Tally != want[s.Series] {
			t.Errorf("%+v: got %+v, want %+v", s.Series, s.Tally, want[s.Series])
		}
	}
	wantLines := []stream.Line{
		{Process: "0000000000000001", Reason: stream.ReasonFiltered, What: "markers", Where: "time", Count: 5},
		{Process: "0000000000000001", Reason: stream.ReasonFiltered, What: "samples", Where: "time", Count: 4},
	}
	if lines := count.Tables.Ledger.Lines(); !slices.Equal(lines, wantLines) {
		t.Errorf("ledger %v, want %v", lines, wantLines)
	}
}

// A page that began before stays, because events inside refer to it.
func TestSlicePages(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1})
	p.Page(50, stream.PhaseStart, 1, 2, 0, 0, "https://example.org")
	src := filter.ByTime(b.Source(), 100, 200)
	var batch stream.Batch
	if err := src.Next(&batch); err != nil || batch.Len() != 1 {
		t.Errorf("%d pages (%v)", batch.Len(), err)
	}
}

// A slice knows its progress and closes if its source does.
func TestSliceForwards(t *testing.T) {
	b := streamtest.NewBuilder()
	b.Process(stream.Process{Instance: 1}).Main.Sample(1, 0)
	if _, ok := filter.ByTime(b.Source(), 0, 1).(stream.Progress); !ok {
		t.Error("the slice of a source with progress tells none")
	}
	src := &closer{Source: b.Source()}
	if _, total := filter.ByTime(src, 0, 1).(stream.Progress).Progress(); total != 0 {
		t.Errorf("the slice of a source without progress says that it has %d bytes", total)
	}
	if err := stream.Copy(stream.Discard, filter.ByTime(src, 0, 1), stream.CopyOptions{}); err != nil || src.closed != 1 {
		t.Errorf("closed %d times (%v)", src.closed, err)
	}
	src.err = errors.New("test error")
	if err := filter.ByTime(src, 0, 1).(io.Closer).Close(); err != src.err {
		t.Errorf("closing gives %v", err)
	}
}

type closer struct {
	stream.Source
	closed int
	err    error
}

func (c *closer) Close() error { c.closed++; return c.err }
