package spans_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"gprof/ingest/internal/spans"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// request is an event whose markers are spans.
func request(b *streamtest.Builder) stream.EventID {
	return b.Event(stream.Event{Name: "request", Fields: []stream.EventField{
		{Name: "trace", Type: stream.Text, Format: stream.FormatTraceID}, {Name: "span", Type: stream.Text, Format: stream.FormatSpanID},
		{Name: "parent", Type: stream.Text, Format: stream.FormatSpanID},
	}})
}

func spanOf(n int) stream.Span {
	return stream.Span{Trace: [2]uint64{0, uint64(n/10 + 1)}, ID: uint64(n + 1)}
}

// piece is a time of a goroutine.
type piece struct {
	goroutine int64
	from, to  stream.Time
	of        stream.Span
}

// want is the span of a sample, by looking at all.
func want(all []piece, goroutine int64, at stream.Time) (of stream.Span) {
	best := piece{from: math.MinInt64}
	for _, p := range all {
		if p.goroutine != goroutine || at < p.from || at >= p.to {
			continue
		}
		if p.from > best.from || p.from == best.from && p.to < best.to {
			best = p
		}
	}
	return best.of
}

// recording has processes whose goroutines run nested and overlapping spans. Some were announced, some
// on another goroutine than the one on which they end, some did not end.
func recording(t *testing.T, processes, each, samples int, seed uint64) (b *streamtest.Builder, pieces [][]piece, open int) {
	random := rand.New(rand.NewPCG(seed, 1))
	b = streamtest.NewBuilder()
	e := request(b)
	other := b.Event(stream.Event{Name: "other"})
	for n := range processes {
		p := b.Process(stream.Process{Instance: uint64(n + 1), Traced: n%3 != 2})
		var all []piece
		for i := range each {
			x := piece{goroutine: 1 + random.Int64N(4), from: stream.Time(10 * i), of: spanOf(i)}
			x.to = x.from + stream.Time(random.IntN(200))
			args := []any{x.of.TraceText(), x.of.IDText(), nil}
			mark := func(phase stream.Phase, goroutine int64, at stream.Time, duration int64) {
				p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: at, Phase: phase, Duration: duration, Args: args,
					Owner: stream.Owner{Goroutine: goroutine}})
			}
			switch how := random.IntN(10); {
			case how < 5: // announced, and ended elsewhere
				mark(stream.PhaseStart, x.goroutine, x.from, 0)
				mark(stream.Interval, 5, x.from, int64(x.to-x.from))
			case how == 5: // not ended
				mark(stream.PhaseStart, x.goroutine, x.from, 0)
				x.to = math.MaxInt64
				if n%3 != 2 {
					open++
				}
			case how == 6: // with an end of its own
				mark(stream.PhaseStart, x.goroutine, x.from, 0)
				mark(stream.PhaseEnd, 5, x.to, 0)
				if n%3 != 2 {
					open++ // this start stays, too
				}
			default: // the start is gone
				mark(stream.Interval, x.goroutine, x.from, int64(x.to-x.from))
			}
			if n%3 != 2 {
				all = append(all, x)
			}
		}
		for range samples {
			p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: stream.Time(random.IntN(10*each + 300)), Weight: 1,
				Owner: stream.Owner{Goroutine: random.Int64N(6)}})
			p.Main.Mark(stream.Time(random.IntN(10*each)), stream.Instant, other)
		}
		pieces = append(pieces, all)
	}
	return b, pieces, open
}

// Each sample has the span that its goroutine began last, of those that go on.
func TestSamplesNameSpans(t *testing.T) {
	for seed := range uint64(20) {
		b, pieces, open := recording(t, 6, 60, 300, seed)
		src := spans.Join(b.Shuffled(seed), t.TempDir())
		named, starts := 0, 0
		for {
			var batch stream.Batch
			if err := src.Next(&batch); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			for _, r := range streamtest.Rows(&batch) {
				n := int(src.Tables().Process(r.Process).Instance) - 1
				switch {
				case r.Kind == stream.Samples:
					if of := want(pieces[n], r.Goroutine, r.Time); r.Span != of {
						t.Fatalf("seed %d: a sample of goroutine %d at %d has span %v, want %v", seed, r.Goroutine, r.Time, r.Span, of)
					} else if of != (stream.Span{}) {
						named++
					}
				case r.Phase == stream.PhaseStart && n%3 != 2:
					starts++
				}
			}
		}
		if starts != open {
			t.Errorf("seed %d: %d starts are left, want %d", seed, starts, open)
		}
		if named < 6*300/4 {
			t.Errorf("seed %d: only %d samples have spans", seed, named)
		}
		if err := src.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
}

// It conforms as a source, and gives the same rows in whatever order they come, also if most spans
// and samples are in files.
func TestConforms(t *testing.T) {
	streamtest.TestSource(t, func(t *testing.T) stream.Source {
		b, _, _ := recording(t, 3, 100, 100, 1)
		return spans.Join(b.Source(), t.TempDir())
	})
	streamtest.TestSource(t, func(t *testing.T) stream.Source { return spans.Join(streamtest.Busy(3000).Source(), t.TempDir()) })
	var want bytes.Buffer
	for seed := range uint64(3) {
		b, _, _ := recording(t, 4, 6000, 100, 2)
		var got bytes.Buffer
		if err := stream.Copy(streamtest.NewText(&got), spans.Join(b.Shuffled(seed), t.TempDir()), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if seed == 0 {
			want = got
		} else if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("order %d: other bytes", seed)
		}
	}
}

// Spans without a trace, with ids that are none, of no goroutine or of no length name no sample.
func TestOddSpans(t *testing.T) {
	b := streamtest.NewBuilder()
	e := request(b)
	p := b.Process(stream.Process{Instance: 1, Traced: true})
	good := spanOf(1)
	for _, args := range [][]any{
		{nil, good.IDText(), nil}, {"", "", nil}, {"xyz", good.IDText(), nil}, {good.TraceText(), "short", nil},
		{"00000000000000000000000000000000", good.IDText(), nil}, {int64(7), good.IDText(), nil},
	} {
		p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Phase: stream.Interval, Duration: 100, Args: args, Owner: stream.Owner{Goroutine: 1}})
	}
	p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Phase: stream.Interval, Duration: 100, Args: []any{good.TraceText(), good.IDText(), nil}})
	p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Phase: stream.Interval, Args: []any{good.TraceText(), good.IDText(), nil}, Owner: stream.Owner{Goroutine: 1}})
	// A span of a trace, without an id of its own, covers others' time.
	p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: 50, Phase: stream.Interval, Duration: math.MaxInt64, Args: []any{good.TraceText(), nil, nil}, Owner: stream.Owner{Goroutine: 1}})
	for at := range 100 {
		p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: stream.Time(at), Weight: 1, Owner: stream.Owner{Goroutine: 1}})
		p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: stream.Time(at), Weight: 1})
	}
	src := spans.Join(b.Source(), t.TempDir())
	samples, named := 0, 0
	for {
		var batch stream.Batch
		if err := src.Next(&batch); err != nil {
			break
		}
		for _, r := range streamtest.Rows(&batch) {
			if r.Kind != stream.Samples {
				continue
			}
			samples++
			var want stream.Span
			if r.Goroutine == 1 && r.Time >= 50 {
				want = stream.Span{Trace: good.Trace}
				named++
			}
			if r.Span != want {
				t.Errorf("at %d: span %v, want %v", r.Time, r.Span, want)
			}
		}
	}
	if samples != 200 || named != 50 {
		t.Errorf("%d samples, %d of them with spans", samples, named)
	}
}
