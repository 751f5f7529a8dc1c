package firefox

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

var update = flag.Bool("update", false, "write the golden files")

func newSink(w io.Writer) stream.Sink { return sinkOf(w, pipeline.Options{Jobs: 2}) }

func sinkOf(w io.Writer, o pipeline.Options) stream.Sink {
	out, err := pipeline.New(w, o)
	if err != nil {
		panic(err)
	}
	return New(out, "", nil)
}

func TestSink(t *testing.T) { streamtest.TestSink(t, newSink, check) }

func convert(t testing.TB, sink func(io.Writer) stream.Sink, src stream.Source) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := stream.Copy(streamtest.Validate(sink(&out)), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// build is a profile of the rows that f adds to a process.
func build(t *testing.T, f func(*streamtest.Builder, *streamtest.Process)) object {
	t.Helper()
	b := streamtest.NewBuilder()
	f(b, b.Process(stream.Process{Instance: 0xab, Pid: 1, Name: "shop", Start: begin, End: begin + second}))
	output := convert(t, newSink, b.Source())
	check(t, output)
	var top object
	if err := json.Unmarshal(output, &top); err != nil {
		t.Fatal(err)
	}
	return top
}

const (
	second = stream.Time(1_000_000_000)
	milli  = second / 1000
	// begin is not a whole millisecond, so that it is not 0 in the output.
	begin = 1_795_000_000*second + 250_000
)

// crowd is threads of all sizes: some are written at once, some in pieces on
// other cores, and of the largest most columns come out of a file.
func crowd(b *streamtest.Builder) {
	p := b.Process(stream.Process{Instance: 1, Name: "shop", Start: begin, End: begin + 1000*second})
	for i := range 90_000 {
		p.Main.Add(streamtest.Row{Time: begin + stream.Time(i)*milli, Stack: b.Stack("main", fmt.Sprint("g", i%500)), Weight: 1, CPU: int64(i % 977)})
	}
	e := b.Event(stream.Event{Name: "note", Fields: []stream.EventField{
		{Name: "number", Type: stream.Int, Format: stream.FormatInteger},
		{Name: "word", Type: stream.Text, Format: stream.FormatString},
	}})
	c := p.Counter(stream.Counter{Name: "rss", Unit: stream.FormatBytes})
	for i := range 20 {
		track := p.Track(fmt.Sprint("worker ", i))
		stack := b.Stack("main", fmt.Sprint("f", i))
		for k := range i * i * 6 {
			at := begin + stream.Time(k)*milli
			track.Add(streamtest.Row{Time: at, Stack: stack, Weight: int64(k % 7), CPU: int64(k%3) - 1})
			track.Mark(at, stream.Instant, e, "no number", fmt.Sprint("word ", k%i))
			if i == 19 {
				p.Count(at, c, int64(k*k), int64(k%2))
			}
		}
	}
}

// The bytes do not depend on the number of cores.
func TestJobs(t *testing.T) {
	for _, zip := range []bool{false, true} {
		var first []byte
		for _, jobs := range []int{1, 2, 5} {
			b := streamtest.NewBuilder()
			crowd(b)
			output := convert(t, func(w io.Writer) stream.Sink { return sinkOf(w, pipeline.Options{Gzip: zip, Jobs: jobs}) }, b.SourceOf(8192))
			if first == nil {
				first = output
				if !zip {
					check(t, output)
				}
			}
			if !bytes.Equal(first, output) {
				t.Errorf("gzip %v: %d jobs write %d bytes, one writes %d others", zip, jobs, len(output), len(first))
			}
		}
	}
}

// go test ./convert/firefox -run Golden -update
func TestGolden(t *testing.T) {
	for _, name := range []string{"empty", "code", "all kinds"} {
		i := slices.IndexFunc(streamtest.Cases, func(c streamtest.Case) bool { return c.Name == name })
		b := streamtest.NewBuilder()
		streamtest.Cases[i].Build(b)
		var got bytes.Buffer
		if err := json.Indent(&got, convert(t, newSink, b.Source()), "", " "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		streamtest.Golden(t, golden(name), got.Bytes(), *update)
	}
}

func golden(name string) string {
	return filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".firefox.json")
}

// columnOf is a column of a table of the first thread, as JSON.
func columnOf(t *testing.T, profile object, table, name string) string {
	t.Helper()
	text, err := json.Marshal(members(profile.list("threads"))[0].object(table)[name])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWeights(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		stack := b.Stack("main")
		for i, row := range []streamtest.Row{{Weight: 3, CPU: 5}, {Weight: 1 << 40, CPU: -1}, {Weight: 0, CPU: 6}, {Weight: 1, CPU: 0}} {
			row.Time, row.Stack = begin+stream.Time(i)*milli, stack
			p.Main.Add(row)
		}
	})
	for name, want := range map[string]string{
		"stack": `[0,0,null,0]`, "timeDeltas": `[0.25,1,1,1]`, "threadCPUDelta": `[5,null,6,0]`, "weight": `[3,1099511627776,0,1]`,
	} {
		if got := columnOf(t, profile, "samples", name); got != want {
			t.Errorf("%s %s, want %s", name, got, want)
		}
	}
}

// Times that a phase does not use are null, and never 0 for an end.
func TestPhases(t *testing.T) {
	const start = begin - begin%milli
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Name: "shop", Start: start, End: start + second})
	e := b.Event(stream.Event{Name: "e"})
	for i, phase := range []stream.Phase{stream.Instant, stream.PhaseStart, stream.PhaseEnd} {
		p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: start, Index: uint64(i + 1), Phase: phase})
	}
	p.Main.Interval(start+1, int64(milli), e)
	output := convert(t, newSink, b.Source())
	check(t, output)
	var profile object
	if err := json.Unmarshal(output, &profile); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"startTime": `[0,0,null,0.000001]`, "endTime": `[null,null,0.000001,1.000001]`, "phase": `[0,2,3,1]`,
	} {
		if got := columnOf(t, profile, "markers", name); got != want {
			t.Errorf("%s %s, want %s", name, got, want)
		}
	}
}

// A function is one, whether or not all of its frames know their file, and also
// where some were inlined from another one.
func TestFunctions(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		exe := b.Tables.Modules.Intern(stream.Module{Name: "shop"})
		name := b.Tables.Strings.Intern
		for i, f := range []stream.Frame{
			{Module: exe, Offset: 1, Function: name("f")},
			{Module: exe, Offset: 2, Function: name("f"), File: name("f.go"), Line: 7},
			{Module: exe, Offset: 3, Function: name("f"), File: name("other.go"), Line: 8},
			{Module: exe, Offset: 1 << 40},
			{Module: exe, Offset: 1<<40 + 1},
			{Function: name("f"), Label: true},
		} {
			p.Main.Sample(begin+stream.Time(i)*milli, b.StackOf(f))
		}
	})
	texts := profile.object("shared").list("stringArray")
	var names []string
	for _, n := range profile.object("shared").object("funcTable").list("name") {
		names = append(names, texts[int(n.(float64))].(string))
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "0x10000000000 0x10000000001 f f" {
		t.Errorf("functions %s", got)
	}
}

// The busiest threads are shown, and the main one of each process.
// Of a thousand processes those are shown in which most happened, each with its
// main thread.
func TestVisibleProcesses(t *testing.T) {
	var threads []activity
	for process := range 1000 {
		threads = append(threads, activity{thread: 2 * process, main: true, markers: int64(process)},
			activity{thread: 2*process + 1, cpu: int64(1000 - process)})
		threads[2*process+1].samples = 1
	}
	shown, busiest := visible(threads)
	if len(shown) != 2*maxVisible+maxProcesses || busiest != 1 {
		t.Errorf("%d threads are shown, the busiest is %d", len(shown), busiest)
	}
	for _, thread := range shown {
		if !slices.Contains(shown, thread&^1) {
			t.Errorf("thread %d is shown without its process", thread)
		}
	}
	if !slices.Contains(shown, 1998) {
		t.Error("the process with most markers is not shown")
	}
}

func TestVisible(t *testing.T) {
	var threads []activity
	for i := range 100 {
		threads = append(threads, activity{thread: i, main: i%50 == 0, samples: int64(i % 60), cpu: int64(i / 98)})
	}
	shown, busiest := visible(threads)
	if len(shown) != maxVisible+1 || shown[0] != 0 || shown[1] == 1 || !slices.Contains(shown, 50) || busiest != 98+1 {
		t.Errorf("%d threads %v, the busiest %d", len(shown), shown, busiest)
	}
	if shown, busiest := visible([]activity{{main: true}, {thread: 1}}); !slices.Equal(shown, []int{0}) || busiest != 0 {
		t.Errorf("of nothing: %v, %d", shown, busiest)
	}
}

// A missing directory for temporary files is an error, not a panic.
func TestNoRoom(t *testing.T) {
	b := streamtest.NewBuilder()
	crowd(b)
	out, err := pipeline.New(io.Discard, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = stream.Copy(New(out, filepath.Join(t.TempDir(), "missing"), nil), b.SourceOf(8192), stream.CopyOptions{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Counters are drawn by what they count, under their own names.
func TestCounters(t *testing.T) {
	tests := []struct {
		counter     stream.Counter
		graph, unit string
		counts      string // of 1e6, 4e6
	}{
		{stream.Counter{Name: "rss", Unit: stream.FormatBytes}, level, "bytes", `[1000000,3000000]`},
		{stream.Counter{Name: "sent", Unit: stream.FormatBytes, Total: true}, rate, "bytes", `[1000000,3000000]`},
		{stream.Counter{Name: "cpu", Unit: stream.FormatNanoseconds, Total: true}, rate, "percent", `[1,3]`},
		{stream.Counter{Name: "latency", Unit: stream.FormatNanoseconds}, level, "", `[1,3]`},
		{stream.Counter{Name: "energy", Unit: stream.FormatPicowatt}, rate, "pWh", `[1000000,3000000]`},
		{stream.Counter{Name: "goroutines"}, level, "", `[1000000,3000000]`},
		{stream.Counter{Name: "requests", Total: true}, rate, "", `[1000000,3000000]`},
	}
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		for _, tt := range tests {
			id := p.Counter(tt.counter)
			p.Count(begin, id, 1e6, 0)
			p.Count(begin+milli, id, 4e6, 0)
		}
	})
	seen := map[string]object{}
	for _, c := range members(profile.list("counters")) {
		seen[c.text("name")] = c
	}
	for _, tt := range tests {
		c := seen[tt.counter.Name]
		counts, err := json.Marshal(c.object("samples")["count"])
		d := c.object("display")
		if err != nil || string(counts) != tt.counts || d["graphType"] != tt.graph || d["unit"] != tt.unit || d["label"] != tt.counter.Name {
			t.Errorf("%s: %s, drawn as %v", tt.counter.Name, counts, d)
		}
	}
}
