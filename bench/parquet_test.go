package bench

import (
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// tableStart is when the rows of the tables begin.
const tableStart stream.Time = 1_795_000_000_000_000_000

// counted is a directory that counts bytes.
type counted struct{ bytes *int64 }

type countedFile struct{ bytes *int64 }

func (c counted) Create(string) (io.WriteCloser, error) { return countedFile(c), nil }
func (c countedFile) Close() error                      { return nil }
func (c countedFile) Write(p []byte) (int, error)       { *c.bytes += int64(len(p)); return len(p), nil }

// kept is a sink that keeps its input, for a benchmark without the work of a
// Copy.
type kept struct {
	tables   *stream.Tables
	segments []*stream.Batch
	rows     int
}

func (r *kept) Begin(t *stream.Tables) error { r.tables = t; return nil }
func (r *kept) Close() error                 { return nil }
func (r *kept) Segment(b *stream.Batch) error {
	keep := new(stream.Batch)
	keep.Reset(b.Series, len(b.Args))
	keep.AppendRows(b, 0, b.Len())
	r.segments = append(r.segments, keep)
	r.rows += b.Len()
	return nil
}

func (r *kept) write(b *testing.B, sink stream.Sink) {
	if err := sink.Begin(r.tables); err != nil {
		b.Fatal(err)
	}
	for _, s := range r.segments {
		if err := sink.Segment(s); err != nil {
			b.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		b.Fatal(err)
	}
}

const benchRows = 500_000

// samplesOnly is a track of samples of 40 frames on average.
func samplesOnly(b *streamtest.Builder, t *streamtest.Track) {
	r := rand.New(rand.NewPCG(1, 1))
	var frames []stream.FrameID
	for i := range 500 {
		name := b.Tables.Strings.Intern("example.org/shop/internal/module.(*Type).Method" + strconv.Itoa(i))
		frames = append(frames, b.Tables.Frames.Intern(stream.Frame{Function: name}))
	}
	var stacks []stream.StackID
	for range 5000 {
		var id stream.StackID
		if len(stacks) > 0 && r.IntN(40) > 0 {
			id = stacks[r.IntN(len(stacks))]
		}
		stacks = append(stacks, b.Tables.Stacks.Intern(id, frames[r.IntN(len(frames))]))
	}
	for i := range benchRows {
		at := tableStart + stream.Time(i)*1_000_000 + stream.Time(r.IntN(100_000))
		t.Add(streamtest.Row{Time: at, Stack: stacks[r.IntN(len(stacks))], Weight: 1, CPU: int64(r.IntN(1_000_000))})
	}
}

// markersOnly is a track of intervals with two numbers and a text.
func markersOnly(b *streamtest.Builder, t *streamtest.Track) {
	e := b.Event(stream.Event{Name: "request", Fields: []stream.EventField{
		{Name: "bytes", Type: stream.Uint, Format: stream.FormatBytes},
		{Name: "waited", Type: stream.Int, Format: stream.FormatNanoseconds},
		{Name: "path", Type: stream.Text, Format: stream.FormatText},
	}})
	for i := range benchRows {
		t.Interval(tableStart+stream.Time(i)*1_000_000, int64(i), e, uint64(i), int64(i*77), "/articles/of/the/shop")
	}
}

// Rows are those of a core: of CPU time, not of the clock.
//
// go test ./bench -bench Tables -count 10 | go tool benchstat -col /rows -
func BenchmarkTables(b *testing.B) {
	for name, build := range map[string]func(*streamtest.Builder, *streamtest.Track){"samples": samplesOnly, "markers": markersOnly} {
		b.Run("rows="+name, func(b *testing.B) {
			builder := streamtest.NewBuilder()
			build(builder, builder.Process(stream.Process{Name: "shop", Start: tableStart}).Main)
			var in kept
			if err := stream.Copy(&in, builder.SourceOf(8192), stream.CopyOptions{}); err != nil {
				b.Fatal(err)
			}
			format, _, err := convert.ByFormat("parquet")
			if err != nil {
				b.Fatal(err)
			}
			var bytes int64
			b.ReportAllocs()
			start := cpuTime()
			for b.Loop() {
				bytes = 0
				in.write(b, format.NewIn(counted{&bytes}, convert.Options{}))
			}
			b.ReportMetric(float64(in.rows)*float64(b.N)/(cpuTime()-start).Seconds()/1e6, "Mrow/cpu-s")
			b.ReportMetric(float64(bytes)/float64(in.rows), "B/row")
		})
	}
}
