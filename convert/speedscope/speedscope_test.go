package speedscope

import (
	stdbytes "bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/pipeline"
	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

func newSink(w io.Writer) stream.Sink {
	out, err := pipeline.New(w, pipeline.Options{Jobs: 2})
	if err != nil {
		panic(err)
	}
	return New(out, "")
}

func convert(t *testing.T, src stream.Source) (string, *stream.Count) {
	t.Helper()
	var out stdbytes.Buffer
	count := new(stream.Count)
	if err := stream.Copy(stream.Tee(newSink(&out), count), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	check(t, out.Bytes())
	return out.String(), count
}

// file is what the format's schema allows, of what is written.
type file struct {
	Schema   string `json:"$schema"`
	Exporter string
	Name     string
	Shared   struct {
		Frames []struct {
			Name, File string
			Line, Col  int32
		}
	}
	Profiles []struct {
		Type, Name, Unit     string
		StartValue, EndValue int64
		Samples              [][]int
		Weights              []int64
	}
	ActiveProfileIndex int
}

// check holds a file against the rules of the schema and of speedscope's importer.
func check(t *testing.T, output []byte) {
	t.Helper()
	var f file
	d := json.NewDecoder(stdbytes.NewReader(output))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Profiles {
		sum := int64(0)
		for _, w := range p.Weights {
			sum += w
			if w <= 0 {
				t.Errorf("%s: weight %d", p.Name, w)
			}
		}
		if p.Type != "sampled" || p.Name == "" || p.StartValue != 0 || p.EndValue != sum || len(p.Samples) != len(p.Weights) {
			t.Errorf("%s: %d samples, %d weights that are %d, want %d", p.Name, len(p.Samples), len(p.Weights), sum, p.EndValue)
		}
		for _, frame := range slices.Concat(p.Samples...) {
			if frame < 0 || frame >= len(f.Shared.Frames) {
				t.Errorf("%s: frame %d of %d", p.Name, frame, len(f.Shared.Frames))
			}
		}
	}
	if len(f.Profiles) == 0 || f.ActiveProfileIndex >= len(f.Profiles) {
		t.Errorf("profile %d of %d is to be shown", f.ActiveProfileIndex, len(f.Profiles))
	}
}

func TestSink(t *testing.T) { streamtest.TestSink(t, newSink, check) }

// mixed is a track with everything, and two threads of one name in two processes.
func mixed() *streamtest.Builder {
	b := streamtest.NewBuilder()
	exe := b.Tables.Modules.Intern(stream.Module{Build: "c0ffee", Name: "shop"})
	text := b.Tables.Strings.Intern
	script := func(line int32) stream.Frame {
		return stream.Frame{Script: true, Function: text("(anonymous)"), File: text("app.js"), Start: line, StartColumn: 5}
	}
	first := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop", Interval: 1e6})
	main, work := stream.Frame{Module: exe, Offset: 1, Function: text("main"), File: text("a.c"), Line: 9}, stream.Frame{Module: exe, Offset: 2, Function: text("work"), File: text("a.c"), Line: 12, Start: 11}
	elsewhere := work
	elsewhere.Offset, elsewhere.Line, elsewhere.Start = 3, 14, 0
	stacks := []stream.StackID{b.StackOf(main, work), b.StackOf(main, elsewhere), b.StackOf(main), 0}
	for i, cpu := range []int64{900_000, -1, 1_100_000, 0} {
		first.Main.Add(streamtest.Row{Time: stream.Time(i), Stack: stacks[i], Weight: int64(i + 1), CPU: cpu})
	}
	first.Main.Wait(1, stacks[0], 5e6, 1)
	first.Main.Allocate(1, stream.Instant, stacks[0], 100, 1)
	first.Main.Allocate(2, stream.Instant, stacks[0], -40, 1)
	first.Main.Allocate(3, stream.Instant, stacks[2], -7, 1)
	delay := b.Tables.Counters.Intern(stream.Counter{Process: 1, Name: "delay", Unit: stream.FormatBytes, Measure: true})
	measured := first.Track("measured")
	measured.Add(streamtest.Row{Series: stream.Series{Kind: stream.Measurements, Counter: delay}, Time: 1, Stack: stacks[0], Value: 70})
	measured.Add(streamtest.Row{Series: stream.Series{Kind: stream.Measurements, Counter: delay}, Time: 2, Stack: stacks[2], Value: -1})
	second := b.Process(stream.Process{Instance: 2, Pid: 2, Name: "shop"})
	for _, p := range []*streamtest.Process{first, second} {
		worker := p.Track("worker")
		worker.Sample(5, b.StackOf(script(1), script(8)))
		worker.Sample(6, b.StackOf(stream.Frame{Module: exe, Offset: 0x1f}))
	}
	first.Main.Mark(5, stream.Instant, b.Event(stream.Event{Name: "tick"}))
	return b
}

// Speedscope itself has the profiles, the units and the sums that were written.
func TestSpeedscopeReads(t *testing.T) {
	output, count := convert(t, mixed().Shuffled(3))
	path := filepath.Join(t.TempDir(), "mixed.speedscope.json")
	if err := os.WriteFile(path, []byte(output), 0o600); err != nil {
		t.Fatal(err)
	}
	all, active, err := judges.Speedscope(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Name, Unit   string
		Weight, Idle float64
		Self         map[string]float64
	}
	var got []row
	for _, p := range all {
		self := map[string]float64{}
		for _, f := range p.Functions {
			self[f.Name] += f.Self
		}
		got = append(got, row{p.Name, p.Unit, p.Weight, p.Idle, self})
	}
	want := []row{
		{"shop · pid 1", "nanoseconds", 10e6, 4e6, map[string]float64{"main": 3e6, "work": 3e6}},
		{"shop · pid 1 (CPU time)", "nanoseconds", 2e6, 0, map[string]float64{"main": 1.1e6, "work": 0.9e6}},
		{"shop · pid 1 (waiting)", "nanoseconds", 5e6, 0, map[string]float64{"main": 0, "work": 5e6}},
		{"shop · pid 1 (allocated)", "bytes", 100, 0, map[string]float64{"main": 0, "work": 100}},
		{"shop · pid 1 (in use)", "bytes", 60, 0, map[string]float64{"main": 0, "work": 60}},
		{"shop · pid 1 · measured (delay)", "bytes", 70, 0, map[string]float64{"main": 0, "work": 70}},
		{"shop · pid 1 · worker", "nanoseconds", 2e6, 0, map[string]float64{"(anonymous)": 1e6, "shop+0x1f": 1e6}},
		{"shop · pid 2 · worker", "none", 2, 0, map[string]float64{"(anonymous)": 1, "shop+0x1f": 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" || active != 0 {
		t.Errorf("profile %d of %s", active, diff)
	}
	work, anonymous := 0, 0
	for _, f := range append(all[0].Functions, all[6].Functions...) {
		switch {
		case f.Name == "work" && f.File == "a.c" && f.Line == 11:
			work++
		case f.Name == "(anonymous)":
			anonymous++
		}
	}
	if work != 1 || anonymous != 2 {
		t.Errorf("%d functions are work, want 1; %d are (anonymous), want one for each place", work, anonymous)
	}
	wantLedger := []stream.Line{
		{Process: "0000000000000001", Reason: stream.ReasonUnsupported, What: "bytes in use", Where: "values below 0", Count: 1},
		{Process: "0000000000000001", Reason: stream.ReasonUnsupported, What: "measurements", Where: "values below 0", Count: 1},
		{Process: "0000000000000001", Reason: stream.ReasonNoPlace, What: "markers", Count: 1},
	}
	if diff := cmp.Diff(wantLedger, count.Tables.Ledger.Lines()); diff != "" {
		t.Error(diff)
	}
}

// A recording without values is a file that speedscope opens.
func TestNothing(t *testing.T) {
	b := streamtest.NewBuilder()
	b.Process(stream.Process{Instance: 1, Pid: 1, Name: "idle"})
	output, _ := convert(t, b.Source())
	path := filepath.Join(t.TempDir(), "idle.speedscope.json")
	if err := os.WriteFile(path, []byte(output), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, _, err := judges.Speedscope(t.Context(), path); err != nil || len(all) != 1 || all[0].Name != "idle · pid 1" {
		t.Errorf("%v, %v", all, err)
	}
}

// Of a recursion, of which each depth was sampled, the outermost calls are cut, and counted.
func TestDeepStacks(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "p"})
	frame := b.Tables.Frames.Intern(stream.Frame{Function: b.Tables.Strings.Intern("f")})
	at := stream.StackID(0)
	for i := range stream.Time(maxFrames + 3) {
		at = b.Tables.Stacks.Intern(at, frame)
		if i >= maxFrames-2 {
			p.Main.Sample(i, at)
		}
	}
	output, count := convert(t, b.Source())
	if n := strings.Count(output, ",0]") + strings.Count(output, "[0]"); n != 5 {
		t.Errorf("%d stacks", n)
	}
	if lines := count.Tables.Ledger.Lines(); len(lines) != 1 || lines[0].Reason != stream.ReasonCut || lines[0].Count != 3 {
		t.Errorf("ledger %v", lines)
	}
}

// A track of waits that says so in its name is not named twice.
func TestNamesOfWaits(t *testing.T) {
	b := streamtest.NewBuilder()
	track := b.Process(stream.Process{Instance: 1, Name: "shop"}).Track("w (waiting)")
	track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Waits}, Time: 1, Stack: b.Stack("main"), Weight: 1, Value: 5})
	output, _ := convert(t, b.Source())
	if n := strings.Count(output, "w (waiting)"); n == 0 || strings.Contains(output, "(waiting) (waiting)") {
		t.Errorf("%d: %s", n, output)
	}
}

// The sink's memory does not grow with the number of rows.
func TestMemory(t *testing.T) {
	held := func(segments int) int64 {
		b := streamtest.NewBuilder()
		b.Process(stream.Process{Instance: 1, Name: "p"})
		stacks := []stream.StackID{b.Stack("a"), b.Stack("a", "b")}
		track := b.Tables.Tracks.Intern(stream.Track{Process: 1, Name: "w"})
		out, err := pipeline.New(io.Discard, pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := New(out, "")
		if err := s.Begin(b.Tables); err != nil {
			t.Fatal(err)
		}
		var rows stream.Batch
		rows.Reset(stream.Series{Process: 1, Track: track, Kind: stream.Samples}, 0)
		for i := range 8192 {
			streamtest.AppendRow(&rows, streamtest.Row{Series: rows.Series, Time: stream.Time(i), Stack: stacks[i%2], Weight: 1, CPU: int64(i)})
		}
		for range segments {
			if err := s.Segment(&rows); err != nil {
				t.Fatal(err)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // a pool keeps what it holds through one
		runtime.ReadMemStats(&m)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return int64(m.HeapAlloc)
	}
	const few, many = 10, 160
	held(few)
	if small, large := held(few), held(many); large-small > (many-few)*8192/4 {
		t.Errorf("%d rows hold %d bytes, %d rows %d", few*8192, small, many*8192, large)
	}
}
