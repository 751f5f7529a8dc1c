package pprof

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/pprof/profile"

	"gprof/convert/internal/locations"
	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// recording is a sink's input without the work of a Copy.
type recording struct {
	tables   *stream.Tables
	segments []*stream.Batch
}

func (r *recording) Begin(t *stream.Tables) error { r.tables = t; return nil }
func (r *recording) Close() error                 { return nil }
func (r *recording) Segment(b *stream.Batch) error {
	keep := new(stream.Batch)
	keep.Reset(b.Series, len(b.Args))
	keep.AppendRows(b, 0, b.Len())
	r.segments = append(r.segments, keep)
	return nil
}

// busy is samples of 8 tracks, some 40 frames deep, of 20,000 stacks.
func busy(tb testing.TB) *recording {
	tb.Helper()
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop", Interval: int64(milli)})
	r := rand.New(rand.NewPCG(1, 1))
	exe := b.Tables.Modules.Intern(stream.Module{Build: "c0ffee01", Name: "shop"})
	frames := make([]stream.FrameID, 5000)
	for i := range frames {
		name := b.Tables.Strings.Intern(fmt.Sprint("example.org/shop/internal/module.(*Type).Method", i/4))
		frames[i] = b.Tables.Frames.Intern(stream.Frame{Module: exe, Offset: uint64(16 * i), Function: name, File: name, Line: int32(i)})
	}
	stacks := []stream.StackID{0}
	for range 20_000 {
		id := stacks[r.IntN(len(stacks))]
		for range 4 {
			id = b.Tables.Stacks.Intern(id, frames[r.IntN(len(frames))])
		}
		stacks = append(stacks, id)
	}
	for i := range 8 {
		track := p.Track(fmt.Sprint("worker ", i))
		for k := range 50_000 {
			track.Add(streamtest.Row{Time: begin + stream.Time(k)*milli, Stack: stacks[r.IntN(len(stacks))], Weight: 1, CPU: int64(r.IntN(1_000_000))})
		}
	}
	var in recording
	if err := stream.Copy(&in, b.SourceOf(8192), stream.CopyOptions{}); err != nil {
		tb.Fatal(err)
	}
	return &in
}

// write is how this package does it.
func (r *recording) write(tb testing.TB, w io.Writer) {
	tb.Helper()
	out, err := pipeline.New(w, pipeline.Options{Gzip: true})
	if err != nil {
		tb.Fatal(err)
	}
	sink := New(out, Options{})
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

// build is how one does it with the library: the same samples, labels and
// tables as a profile.Profile, which is then written.
func (r *recording) build(tb testing.TB, w io.Writer) {
	tb.Helper()
	t := r.tables
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: int64(milli)}
	m := t.Modules.At(1)
	p.Mapping = []*profile.Mapping{{ID: 1, Start: locations.FirstAddress, Limit: locations.FirstAddress + 1<<20, File: m.Name, BuildID: m.Build}}
	functions := map[stream.StringID]*profile.Function{}
	for id := 1; id <= t.Frames.Len(); id++ {
		f := t.Frames.At(stream.FrameID(id))
		fn := functions[f.Function]
		if fn == nil {
			name := t.Strings.At(f.Function)
			fn = &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name, Filename: t.Strings.At(f.File)}
			functions[f.Function] = fn
			p.Function = append(p.Function, fn)
		}
		p.Location = append(p.Location, &profile.Location{ID: uint64(id), Mapping: p.Mapping[0], Address: locations.FirstAddress + f.Offset,
			Line: []profile.Line{{Function: fn, Line: int64(f.Line)}}})
	}
	type key struct {
		track stream.TrackID
		stack stream.StackID
	}
	samples := map[key]*profile.Sample{}
	for _, b := range r.segments {
		for i, stack := range b.Stack {
			k := key{b.Series.Track, stack}
			s := samples[k]
			if s == nil {
				s = &profile.Sample{Value: make([]int64, 2), Label: map[string][]string{
					"process": {t.Processes[0].Title()}, "instance": {"0000000000000001"}, "track": {t.Tracks.At(k.track).Name}}}
				for id := stack; id != 0; {
					caller, frame := t.Stacks.At(id)
					s.Location = append(s.Location, p.Location[frame-1])
					id = caller
				}
				samples[k] = s
				p.Sample = append(p.Sample, s)
			}
			s.Value[0] += b.Weight[i]
			s.Value[1] += b.CPU[i]
		}
	}
	if err := p.Write(w); err != nil {
		tb.Fatal(err)
	}
	runtime.KeepAlive(p) // whoever builds a profile holds it while it is written
}

// gauge is a writer that measures what is alive when it is written to: at first
// and every megabyte.
type gauge struct{ bytes, most uint64 }

func (g *gauge) Write(p []byte) (int, error) {
	before := g.bytes
	g.bytes += uint64(len(p))
	if before > 0 && before>>20 == g.bytes>>20 {
		return len(p), nil
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	g.most = max(g.most, m.HeapAlloc)
	return len(p), nil
}

// The library with which one would write this format otherwise, on the same
// samples: heap is what is alive while it writes.
//
// go test ./convert/pprof -bench Write -count 10 | benchstat -col /impl -
func BenchmarkWrite(b *testing.B) {
	in := busy(b)
	for _, impl := range []struct {
		name  string
		write func(testing.TB, io.Writer)
	}{{"stream", in.write}, {"google", in.build}} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			var before runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var g gauge
			impl.write(b, &g)
			b.ReportAllocs()
			for b.Loop() {
				impl.write(b, io.Discard)
			}
			b.ReportMetric(float64(g.bytes), "output-B")
			b.ReportMetric(float64(g.most-before.HeapAlloc)/1e6, "heap-MB")
		})
	}
}
