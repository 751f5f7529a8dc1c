package pprof

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/pprof/profile"

	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

const (
	second = stream.Time(1_000_000_000)
	milli  = second / 1000
	begin  = 1_795_000_000*second + 250_000
)

func newSink(w io.Writer) stream.Sink {
	out, err := pipeline.New(w, pipeline.Options{Jobs: 2, Gzip: true})
	if err != nil {
		panic(err)
	}
	return New(out, Options{})
}

// parse reads an output as pprof does.
func parse(t testing.TB, output []byte) *profile.Profile {
	t.Helper()
	p, err := profile.Parse(bytes.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

func convert(t testing.TB, src stream.Source) *profile.Profile {
	t.Helper()
	var out bytes.Buffer
	if err := stream.Copy(newSink(&out), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return parse(t, out.Bytes())
}

func TestSink(t *testing.T) {
	streamtest.TestSink(t, newSink, func(t *testing.T, output []byte) { parse(t, output) })
}

// sum is what samples add up to.
type sum struct{ weight, cpu int64 }

// expected sums up what a sink is given, by process and track.
type expected struct {
	tables *stream.Tables
	sums   map[string]sum
}

func (e *expected) Begin(t *stream.Tables) error {
	e.tables, e.sums = t, map[string]sum{}
	return nil
}

func (e *expected) Segment(b *stream.Batch) error {
	if b.Series.Kind != stream.Samples {
		return nil
	}
	key := fmt.Sprintf("%016x %s", e.tables.Process(b.Series.Process).Instance, bytes.ToValidUTF8([]byte(e.tables.Tracks.At(b.Series.Track).Name), []byte("\ufffd")))
	s := e.sums[key]
	for i := range b.Weight {
		s.weight += b.Weight[i]
		s.cpu += max(0, b.CPU[i])
	}
	if s != (sum{}) {
		e.sums[key] = s
	}
	return nil
}

func (e *expected) Close() error { return nil }

// sumsOf adds up a profile by process and track.
func sumsOf(p *profile.Profile) map[string]sum {
	out := map[string]sum{}
	for _, s := range p.Sample {
		label := func(key string) string {
			if v := s.Label[key]; len(v) == 1 {
				return v[0]
			}
			return ""
		}
		key := label("instance") + " " + label("track")
		of := sum{valueOf(p, s, "samples"), valueOf(p, s, "cpu")}
		if of == (sum{}) {
			continue // a wait, or an allocation
		}
		out[key] = sum{out[key].weight + of.weight, out[key].cpu + of.cpu}
	}
	return out
}

// valueOf is a value of a sample, 0 if the profile has no such type.
func valueOf(p *profile.Profile, s *profile.Sample, name string) int64 {
	if i := slices.IndexFunc(p.SampleType, func(v *profile.ValueType) bool { return v.Type == name }); i >= 0 {
		return s.Value[i]
	}
	return 0
}

// Types of which there is nothing are left out, and the default is one with values.
func TestTypes(t *testing.T) {
	for _, tt := range []struct {
		name string
		add  func(*streamtest.Builder, *streamtest.Process)
		want string
	}{
		{"nothing", func(*streamtest.Builder, *streamtest.Process) {}, "samples cpu: cpu"},
		{"CPU", func(b *streamtest.Builder, p *streamtest.Process) {
			p.Main.Add(streamtest.Row{Time: begin, Stack: b.Stack("main"), Weight: 1, CPU: 5})
		}, "samples cpu: cpu"},
		{"CPU time unknown", func(b *streamtest.Builder, p *streamtest.Process) {
			p.Main.Add(streamtest.Row{Time: begin, Stack: b.Stack("main"), Weight: 1, CPU: -1})
		}, "samples: samples"},
		{"waits", func(b *streamtest.Builder, p *streamtest.Process) {
			p.Main.Wait(begin, b.Stack("main"), 5, 1)
		}, "wall: wall"},
		{"waits and the heap", func(b *streamtest.Builder, p *streamtest.Process) {
			p.Main.Wait(begin, b.Stack("main"), 5, 1)
			p.Main.Allocate(begin, stream.Instant, b.Stack("main"), 5, 1)
		}, "wall alloc_objects alloc_space inuse_objects inuse_space: wall"},
	} {
		b := streamtest.NewBuilder()
		tt.add(b, b.Process(stream.Process{Instance: 1, Name: "shop"}))
		p := convert(t, b.Source())
		var got []string
		for _, v := range p.SampleType {
			got = append(got, v.Type)
		}
		if got := strings.Join(got, " ") + ": " + p.DefaultSampleType; got != tt.want {
			t.Errorf("%s: types and default %s, want %s", tt.name, got, tt.want)
		}
	}
}

// The profile's totals of each process and track are those of the rows, for
// every case.
func TestTotals(t *testing.T) {
	for _, c := range streamtest.Cases {
		t.Run(c.Name, func(t *testing.T) {
			b := streamtest.NewBuilder()
			c.Build(b)
			var want expected
			if err := stream.Copy(&want, b.Source(), stream.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.sums, sumsOf(convert(t, b.Source())), cmp.AllowUnexported(sum{})); diff != "" {
				t.Error("rows, profile:", diff)
			}
		})
	}
}

// With buckets the samples of a stack are those of a time, whose label says
// when it begins; sums are the same.
func TestBuckets(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	stack := b.Stack("main")
	for _, track := range []*streamtest.Track{p.Main, p.Track("worker")} {
		for _, at := range []stream.Time{0, 249, 250, 2000, 2250} {
			track.Add(streamtest.Row{Time: begin + at*milli, Stack: stack, Weight: 2, CPU: 3})
		}
	}
	var out bytes.Buffer
	w, err := pipeline.New(&out, pipeline.Options{Gzip: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Copy(New(w, Options{Every: 250 * milli}), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	profile := parse(t, out.Bytes())
	for _, s := range profile.Sample {
		got[fmt.Sprint(s.Label["track"], s.Label["time"])] += s.Value[0]
	}
	want := map[string]int64{}
	for _, track := range []string{"[shop]", "[worker]"} {
		want[track+" [2026-11-18T11:06:40.000000000Z]"] = 4
		want[track+" [2026-11-18T11:06:40.250000000Z]"] = 2
		want[track+" [2026-11-18T11:06:42.000000000Z]"] = 2
		want[track+" [2026-11-18T11:06:42.250000000Z]"] = 2
	}
	if diff := cmp.Diff(want, got); diff != "" || len(profile.Sample) != len(want) {
		t.Errorf("%d samples, -want +got: %s", len(profile.Sample), diff)
	}
}

// Sums stop at the largest number, and no clock is too wrong.
func TestExtremes(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	for _, at := range []stream.Time{math.MinInt64, math.MaxInt64} {
		p.Main.Add(streamtest.Row{Time: at, Stack: b.Stack("main"), Weight: math.MaxInt64, CPU: math.MaxInt64})
	}
	got := convert(t, b.Source())
	if s := got.Sample; len(s) != 1 || s[0].Value[0] != math.MaxInt64 || s[0].Value[1] != math.MaxInt64 || got.DurationNanos != math.MaxInt64 {
		t.Errorf("got %v", got)
	}
}

// stackOf is the locations of the only sample, as text: "address function:line
// function:line", leaf first.
func stackOf(t *testing.T, p *profile.Profile) []string {
	t.Helper()
	if len(p.Sample) != 1 {
		t.Fatalf("%d samples, want 1", len(p.Sample))
	}
	var out []string
	for _, l := range p.Sample[0].Location {
		text := fmt.Sprintf("%#x", l.Address)
		for _, line := range l.Line {
			text += fmt.Sprintf(" %s:%d", line.Function.Name, line.Line)
		}
		out = append(out, text)
	}
	return out
}

func TestInlined(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stack []stream.Frame // outermost first; Module is set
		want  []string
	}{
		{"three in one", []stream.Frame{{Offset: 8, Line: 1}, {Offset: 16, Line: 2}, {Offset: 16, Depth: 1, Line: 3}, {Offset: 16, Depth: 2, Line: 4}, {Offset: 32, Line: 5}},
			[]string{"0x400020 f:5", "0x400010 f:4 f:3 f:2", "0x400008 f:1"}},
		{"recursion", []stream.Frame{{Offset: 16, Line: 2}, {Offset: 16, Depth: 1, Line: 3}, {Offset: 16, Line: 2}, {Offset: 16, Depth: 1, Line: 3}},
			[]string{"0x400010 f:3 f:2", "0x400010 f:3 f:2"}},
		{"caller is missing", []stream.Frame{{Offset: 8, Line: 1}, {Offset: 16, Depth: 1, Line: 3}},
			[]string{"0x400010 f:3", "0x400008 f:1"}},
		{"depth is missing", []stream.Frame{{Offset: 16, Line: 2}, {Offset: 16, Depth: 2, Line: 4}},
			[]string{"0x400010 f:4", "0x400010 f:2"}},
		{"label between", []stream.Frame{{Offset: 16, Line: 2}, {Label: true, Depth: 0, Line: 9}, {Offset: 16, Depth: 1, Line: 3}},
			[]string{"0x400010 f:3", "0x0 f:9", "0x400010 f:2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := streamtest.NewBuilder()
			p := b.Process(stream.Process{Instance: 1, Name: "shop"})
			exe := b.Tables.Modules.Intern(stream.Module{Build: "c0ffee", Name: "shop"})
			for i := range tt.stack {
				tt.stack[i].Function = b.Tables.Strings.Intern("f")
				if !tt.stack[i].Label {
					tt.stack[i].Module = exe
				}
			}
			p.Main.Sample(begin, b.StackOf(tt.stack...))
			if diff := cmp.Diff(tt.want, stackOf(t, convert(t, b.Source()))); diff != "" {
				t.Error("want, got:", diff)
			}
		})
	}
}

// The program comes first, modules have ranges of their own, and what is damaged
// lies in none.
func TestModules(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop", Exe: "/app/shop"})
	module := func(m stream.Module) stream.ModuleID { return b.Tables.Modules.Intern(m) }
	libc := module(stream.Module{Name: "libc.so.6", Path: "/lib/libc.so.6"})
	shop := module(stream.Module{Build: "c0ffee", Name: "shop"})
	name := b.Tables.Strings.Intern("f")
	p.Main.Sample(begin, b.StackOf(
		stream.Frame{Module: shop, Offset: 0x1fff, Function: name, File: name, Line: 7},
		stream.Frame{Module: libc, Offset: 0x10},
		stream.Frame{Module: libc, Offset: 1 << 60},
		stream.Frame{Module: shop, Offset: 0x20}))
	got := convert(t, b.Source())
	if len(got.Mapping) != 3 {
		t.Fatalf("%d mappings, want 3", len(got.Mapping))
	}
	for i, want := range []profile.Mapping{
		{ID: 1, Start: 0x400000, Limit: 0x402000, File: "shop", BuildID: "c0ffee", HasFunctions: true, HasFilenames: true, HasLineNumbers: true},
		{ID: 2, Start: 0x600000, Limit: 0x601000, File: "/lib/libc.so.6"},
		{ID: 3, Start: 0x800000, Limit: 0x803000, File: "shop", BuildID: "c0ffee"}, // has no names, for pprof to find some
	} {
		if diff := cmp.Diff(want, *got.Mapping[i], cmpopts.IgnoreUnexported(want)); diff != "" {
			t.Error("want, got:", diff)
		}
	}
	want := []string{"0x800020", "0x1000000000000000", "0x600010", "0x401fff f:7"}
	if diff := cmp.Diff(want, stackOf(t, got)); diff != "" {
		t.Error("want, got:", diff)
	}
	if nowhere := got.Sample[0].Location[1]; nowhere.Mapping != nil {
		t.Errorf("what lies nowhere lies in %v", nowhere.Mapping)
	}
}

// The default is CPU time where it is known.
func TestHeader(t *testing.T) {
	for _, tt := range []struct {
		cpu     int64
		want    string
		comment int
	}{{-1, "samples", 0}, {5, "cpu", 0}} {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: 1, Name: "shop", Interval: 10})
		b.Process(stream.Process{Instance: 2, Name: "shop", Interval: 20})
		p.Main.Add(streamtest.Row{Time: begin, Stack: b.Stack("main"), Weight: 3, CPU: tt.cpu})
		p.Log(begin+second, stream.LogInfo, "the last")
		got := convert(t, b.Source())
		if got.DefaultSampleType != tt.want || len(got.Comments) != tt.comment || got.Period != 20 ||
			got.TimeNanos != int64(begin) || got.DurationNanos != int64(second) {
			t.Errorf("with CPU %d: %v", tt.cpu, got)
		}
	}
}

// Losses of the recording are in the profile's comments, and rows that have no
// place in the format are in the ledger.
func TestLedger(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 0xab, Name: "shop"})
	p.Main.Mark(begin, stream.Instant, b.Event(stream.Event{Name: "e"}))
	p.Main.Mark(begin, stream.Instant, b.Event(stream.Event{Name: "f"}))
	p.Main.Add(streamtest.Row{Time: begin, Weight: 1})
	p.Main.Delay(begin, 1)
	b.Tables.Ledger.Add(stream.Line{Process: "00000000000000ab", Reason: stream.ReasonGap, What: "chunks", Where: "chunk-00003", Count: 1, Bytes: 262144})
	var out bytes.Buffer
	var count stream.Count
	if err := stream.Copy(stream.Tee(newSink(&out), &count), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []stream.Line{
		{Process: "00000000000000ab", Reason: stream.ReasonGap, What: "chunks", Where: "chunk-00003", Count: 1, Bytes: 262144},
		{Process: "00000000000000ab", Reason: stream.ReasonNoPlace, What: "delays", Count: 1},
		{Process: "00000000000000ab", Reason: stream.ReasonNoPlace, What: "markers", Count: 2},
	}
	if diff := cmp.Diff(want, count.Tables.Ledger.Lines()); diff != "" {
		t.Error("want, got:", diff)
	}
	comments := []string{
		"# loss: 00000000000000ab gap chunk-00003: 1 chunks, 262144 bytes (chunk is missing)",
		"The recording is incomplete: see pprof -comments",
	}
	if diff := cmp.Diff(comments, parse(t, out.Bytes()).Comments); diff != "" {
		t.Error("want, got:", diff)
	}
}

// A thousand inputs do not make a thousand comments.
func TestManyComments(t *testing.T) {
	for inputs, want := range map[int][]string{
		1:               {"# unsure: 0000000000000001 unproven spread: 5 samples (read without a checksum)"},
		maxComments + 1: {"# unsure: unproven: 105 samples (read without a checksum)"},
	} {
		b := streamtest.NewBuilder()
		for i := range inputs {
			p := b.Process(stream.Process{Instance: uint64(i + 1), Name: "shop"})
			p.Main.Sample(begin, b.Stack("main"))
			b.Tables.Ledger.Add(stream.Line{Process: fmt.Sprintf("%016x", i+1), Reason: stream.ReasonUnproven, What: "samples", Where: "spread", Count: 5})
		}
		var out bytes.Buffer
		if err := stream.Copy(newSink(&out), b.Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, comment := range parse(t, out.Bytes()).Comments {
			if !strings.Contains(comment, "CPU time") {
				got = append(got, comment)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d inputs: -want +got\n%s", inputs, diff)
		}
	}
}

// One frame that knows where its function begins is enough.
func TestStart(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	name := b.Tables.Strings.Intern("f")
	p.Main.Sample(begin, b.StackOf(
		stream.Frame{Offset: 1, Function: name, Line: 12},
		stream.Frame{Offset: 2, Function: name, Line: 13, Start: 10},
		stream.Frame{Offset: 3, Function: name, Line: 14},
		stream.Frame{Offset: 4, Function: name, File: name, Line: 15, Start: -1}))
	got := convert(t, b.Source())
	if len(got.Function) != 2 || got.Function[0].StartLine != 0 || got.Function[1].StartLine != 10 {
		t.Errorf("functions %v, want one that begins at 0 and one at 10", got.Function)
	}
}
