package gecko

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// recording is a sink's input without the work of a Copy.
type recording struct {
	tables   *stream.Tables
	segments []*stream.Batch
	rows     int
}

func (r *recording) write(tb testing.TB, sink stream.Sink) {
	tb.Helper()
	if err := sink.Begin(r.tables); err != nil {
		tb.Fatal(err)
	}
	for _, b := range r.segments {
		if err := sink.Segment(b); err != nil {
			tb.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		tb.Fatal(err)
	}
}

// record is a sink that keeps its input.
type record struct{ recording }

func (r *record) Begin(t *stream.Tables) error { r.tables = t; return nil }
func (r *record) Close() error                 { return nil }
func (r *record) Segment(b *stream.Batch) error {
	keep := new(stream.Batch)
	keep.Reset(b.Series, len(b.Args))
	keep.AppendRows(b, 0, b.Len())
	r.segments = append(r.segments, keep)
	r.rows += b.Len()
	return nil
}

const benchRows = 200_000

// samplesOnly is a thread of samples of 40 frames on average.
func samplesOnly(b *streamtest.Builder, t *streamtest.Track) {
	r := rand.New(rand.NewPCG(1, 1))
	exe := b.Tables.Modules.Intern(stream.Module{Build: "c0ffee01", Name: "shop"})
	frames := make([]stream.FrameID, 500)
	for i := range frames {
		name := b.Tables.Strings.Intern("example.org/shop/internal/module.(*Type).Method" + string(rune('a'+i%26)) + string(rune('0'+i/26)))
		frames[i] = b.Tables.Frames.Intern(stream.Frame{Module: exe, Offset: uint64(i), Function: name})
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
		at := begin + stream.Time(i)*milli + stream.Time(r.IntN(100_000))
		t.Add(streamtest.Row{Time: at, Stack: stacks[r.IntN(len(stacks))], Weight: 1, CPU: int64(r.IntN(1_000_000))})
	}
}

// markersOnly is a thread of intervals with two numbers and a text.
func markersOnly(b *streamtest.Builder, t *streamtest.Track) {
	e := b.Event(stream.Event{Name: "request", Fields: []stream.EventField{
		{Name: "bytes", Type: stream.Uint, Format: stream.FormatBytes},
		{Name: "waited", Type: stream.Int, Format: stream.FormatNanoseconds},
		{Name: "path", Type: stream.Text, Format: stream.FormatText},
	}})
	for i := range benchRows {
		at := begin + stream.Time(i)*milli
		t.Interval(at, int64(i), e, uint64(i), int64(i*77), "/articles/of/the/shop")
	}
}

var benchmarks = []struct {
	name  string
	build func(*streamtest.Builder, *streamtest.Track)
}{{"samples", samplesOnly}, {"markers", markersOnly}}

// go test ./convert/gecko -bench . -count 10 | benchstat -col /impl -
func BenchmarkWrite(b *testing.B) {
	for _, bench := range benchmarks {
		builder := streamtest.NewBuilder()
		p := builder.Process(stream.Process{Name: "shop", Start: begin, End: begin + 1000*second})
		bench.build(builder, p.Main)
		var in record
		if err := stream.Copy(&in, builder.SourceOf(8192), stream.CopyOptions{}); err != nil {
			b.Fatal(err)
		}
		var out bytes.Buffer
		in.write(b, newSink(&out))
		run := func(impl string, f func()) {
			b.Run("rows="+bench.name+"/impl="+impl, func(b *testing.B) {
				b.SetBytes(int64(out.Len()))
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(in.rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrow/s")
			})
		}
		run("gecko", func() { in.write(b, sinkOf(io.Discard, pipeline.Options{})) })
		run("gecko-gzip", func() { in.write(b, sinkOf(io.Discard, pipeline.Options{Gzip: true})) })
		run("gecko-level2", func() { in.write(b, sinkOf(io.Discard, pipeline.Options{Gzip: true, Level: 2})) })
		// The floor: nothing but moving these bytes.
		to := make([]byte, out.Len())
		run("memcpy", func() { copy(to, out.Bytes()) })
		// The same value, written by encoding/json.
		var value any
		if err := json.Unmarshal(out.Bytes(), &value); err != nil {
			b.Fatal(err)
		}
		run("encoding-json", func() {
			if err := json.NewEncoder(io.Discard).Encode(value); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// One core, two cores: plain, compressed as it comes by default, and with one
// level for all. Wall time on a machine that does nothing else.
//
// go test ./convert/gecko -bench Jobs -count 10 | benchstat -col /jobs -
func BenchmarkJobs(b *testing.B) {
	builder := streamtest.NewBuilder()
	p := builder.Process(stream.Process{Name: "shop", Start: begin, End: begin + 1000*second})
	samplesOnly(builder, p.Main)
	markersOnly(builder, p.Track("markers"))
	var in record
	if err := stream.Copy(&in, builder.SourceOf(8192), stream.CopyOptions{}); err != nil {
		b.Fatal(err)
	}
	for _, as := range []struct {
		name string
		o    pipeline.Options
	}{{"plain", pipeline.Options{}}, {"gzip", pipeline.Options{Gzip: true}}, {"level2", pipeline.Options{Gzip: true, Level: 2}}} {
		for _, jobs := range []int{1, 2} {
			as.o.Jobs = jobs
			b.Run(fmt.Sprintf("as=%s/jobs=%d", as.name, jobs), func(b *testing.B) {
				for b.Loop() {
					in.write(b, sinkOf(io.Discard, as.o))
				}
			})
		}
	}
}

// Rows of samples as text, without their tables and without a Copy, beside
// copying the text. It is more than caches hold.
//
// go test ./convert/gecko -bench Rows -count 10 | benchstat -col /what -
func BenchmarkRows(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	rows := make([]sample, 2_000_000)
	for i := range rows {
		rows[i] = sample{at: int64(i)*1_000_000 + r.Int64N(1_000_000), cpu: r.Int64N(10_000_000), stack: r.Int32N(500_000)}
	}
	var text []byte
	format := func() {
		text = text[:0]
		for i := range rows {
			text = rows[i].appendTo(text)
		}
	}
	format()
	to := make([]byte, len(text))
	for _, what := range []struct {
		name string
		do   func()
	}{{"format", format}, {"memcpy", func() { copy(to, text) }}} {
		b.Run("what="+what.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				what.do()
			}
		})
	}
}
