package firefox

import (
	"io"
	"runtime"
	"testing"

	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

const segment = 8192

// thousands writes n segments of samples and as many of markers, each of one
// thread, and calls before when all have come.
func thousands(tb testing.TB, sink stream.Sink, n int, before func()) {
	tb.Helper()
	tables := &stream.Tables{Processes: []stream.Process{{Name: "shop", Start: begin, End: begin + 1000*second}}}
	track := tables.Tracks.Intern(stream.Track{Process: 1, Main: true})
	stack := tables.Stacks.Intern(0, tables.Frames.Intern(stream.Frame{Function: tables.Strings.Intern("main"), Label: true}))
	event := tables.AddEvent(stream.Event{Name: "tick", Fields: []stream.EventField{{Name: "n", Type: stream.Int}}})
	if err := sink.Begin(tables); err != nil {
		tb.Fatal(err)
	}
	for _, s := range []stream.Series{{Process: 1, Track: track, Kind: stream.Samples}, {Process: 1, Track: track, Kind: stream.Markers, Event: event}} {
		var b stream.Batch
		b.Reset(s, tables.Args(s))
		for i := range segment {
			streamtest.AppendRow(&b, streamtest.Row{Series: s, Stack: stack, Weight: int64(i % 3), CPU: int64(i * 977), Phase: stream.Interval, Duration: int64(i), Args: []any{i}[:tables.Args(s)]})
		}
		for k := range n {
			for i := range b.Time {
				b.Time[i] = begin + stream.Time(k*segment+i)*1000_003
			}
			if err := sink.Segment(&b); err != nil {
				tb.Fatal(err)
			}
		}
	}
	before()
	if err := sink.Close(); err != nil {
		tb.Fatal(err)
	}
}

// The sink's memory does not grow with the number of rows.
func TestMemory(t *testing.T) {
	held := func(n int) (bytes int64) {
		sink := sinkOf(io.Discard, pipeline.Options{})
		thousands(t, sink, n, func() {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // a pool keeps what it holds through one
			runtime.ReadMemStats(&m)
			bytes = int64(m.HeapAlloc)
		})
		return bytes
	}
	const few, many = 10, 80
	held(few)
	small, large := held(few), held(many)
	if grown := large - small; grown > (many-few)*segment {
		t.Errorf("%d rows hold %d bytes, %d rows %d: more than a byte for each", few*segment, small, many*segment, large)
	}
}

// go test ./convert/firefox -bench Write
func BenchmarkWrite(b *testing.B) {
	const n = 25
	for _, as := range []struct {
		name string
		o    pipeline.Options
	}{{"plain", pipeline.Options{}}, {"gzip", pipeline.Options{Gzip: true}}} {
		b.Run("as="+as.name, func(b *testing.B) {
			for b.Loop() {
				thousands(b, sinkOf(io.Discard, as.o), n, func() {})
			}
			b.ReportMetric(2*n*segment*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrow/s")
		})
	}
}
